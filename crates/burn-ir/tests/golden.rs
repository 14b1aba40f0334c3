//! The encoding of programs: a file of version 1 reads and writes as it did.

use burn_ir::{
    ActivationOp, BinaryOp, CompareOp, CreateOp, Dims, Filter, Graph, GraphError, IR_VERSION,
    IndexOp, ModuleOp, MovementOp, Operand, Operation, Outputs, PadRange, ReduceOp, ScanOp, Scores,
    SliceRange, SortOp, TensorId, TensorMeta, UnaryOp, Window,
};
use burn_std::{
    BoolStore, DType, Distribution, FloatDType, IndexingUpdateOp, IntDType, QuantScheme,
    QuantStore, QuantValue, Scalar, ScaleDtype,
};

/// A program under construction, with ids in order.
#[derive(Default)]
struct Writer {
    graph: Graph,
    next: u64,
}

impl Writer {
    fn fresh(&mut self) -> TensorId {
        self.next += 1;
        TensorId::new(self.next)
    }

    fn input<const D: usize>(&mut self, shape: [usize; D], dtype: DType) -> TensorId {
        let id = self.fresh();
        let meta = TensorMeta::new(shape, dtype);
        self.graph.input(id, meta).expect("the id is fresh");
        id
    }

    fn push(&mut self, operation: Operation<TensorId>) -> TensorId {
        let id = self.fresh();
        self.graph
            .push(operation, Outputs::One(id))
            .expect("the instruction is legal");
        id
    }
}

/// Every leaf, every attribute, every kind of scalar.
fn program() -> Graph {
    let mut w = Writer::default();
    let x = w.input([2, 3], DType::F32);
    let n = w.input([2, 3], DType::I64);
    let b = w.input([2, 3], DType::Bool(BoolStore::Native));
    elementwise(&mut w, x, n, b);
    create(&mut w);
    let sum = reduce(&mut w, x, b);
    move_about(&mut w, x, n, b);
    let transposed = w.push(Operation::Movement {
        op: MovementOp::Permute {
            axes: [1, 0].into_iter().collect(),
        },
        input: x,
    });
    let product = w.push(Operation::Matmul {
        lhs: x,
        rhs: transposed,
    });
    for op in [
        ActivationOp::Relu,
        ActivationOp::Gelu,
        ActivationOp::Sigmoid,
        ActivationOp::Softmax { dim: 1 },
        ActivationOp::LogSoftmax { dim: 0 },
    ] {
        w.push(Operation::Activation { op, input: x });
    }
    find(&mut w, x, b);
    layers(&mut w);
    w.graph
        .yields(vec![product, sum])
        .expect("both are defined");
    w.graph
}

fn layers(w: &mut Writer) {
    let image = w.input([2, 4, 6], DType::F32);
    let weight = w.input([4, 2, 3], DType::F32);
    let line = w.input([4], DType::F32);
    let window = Window {
        size: 3,
        stride: 2,
        before: 1,
        after: 2,
        dilation: 1,
    };
    let windows: Box<[Window]> = [window].into();
    let mut push = |op| w.push(Operation::Module(Box::new(op)));
    let conv = push(ModuleOp::Conv {
        input: image,
        weight,
        bias: Some(line),
        windows: windows.clone(),
        groups: 2,
    });
    push(ModuleOp::ConvTranspose {
        input: conv,
        weight,
        bias: None,
        windows: windows.clone(),
        sizes: [6].into(),
        groups: 2,
    });
    push(ModuleOp::ConvWeight {
        input: image,
        grad: conv,
        windows: windows.clone(),
        groups: 2,
    });
    let columns = push(ModuleOp::Unfold {
        input: image,
        windows: windows.clone(),
    });
    push(ModuleOp::Fold {
        input: columns,
        windows: windows.clone(),
        sizes: [6].into(),
    });
    push(ModuleOp::MaxPool {
        input: image,
        windows: windows.clone(),
        ceil: true,
    });
    push(ModuleOp::MaxPoolIndices {
        input: image,
        windows,
        ceil: false,
        dtype: IntDType::I64,
    });
    let align_corners = true;
    for (filter, size) in [
        (
            Filter::Mean {
                window,
                count_padding: false,
            },
            4,
        ),
        (Filter::AdaptiveMean, 5),
        (Filter::Nearest, 5),
        (Filter::NearestExact, 5),
        (Filter::Linear { align_corners }, 5),
        (Filter::Cubic { align_corners }, 5),
        (Filter::Lanczos { align_corners }, 5),
    ] {
        push(ModuleOp::Resample {
            input: image,
            filters: [filter].into(),
            sizes: [size].into(),
            adjoint: false,
        });
    }
    attention(w, line);
}

fn attention(w: &mut Writer, line: TensorId) {
    let query = w.input([1, 2, 3, 4], DType::F32);
    let mask = w.input([1, 1, 3, 3], DType::Bool(BoolStore::Native));
    let bias = w.input([1, 2, 1, 3], DType::F32);
    for (mask, bias, softcap) in [
        (Some(mask), Some(bias), Some(Scalar::Float(2.0))),
        (None, None, None),
    ] {
        w.push(Operation::Module(Box::new(ModuleOp::Attention {
            query,
            key: query,
            value: query,
            mask,
            bias,
            scores: Scores {
                scale: Scalar::Float(0.5),
                softcap,
                causal: softcap.is_some(),
            },
        })));
    }
    for beta in [Some(line), None] {
        w.push(Operation::Module(Box::new(ModuleOp::LayerNorm {
            input: query,
            gamma: line,
            beta,
            epsilon: Scalar::Float(1e-5),
        })));
    }
    quantization(w);
}

fn quantization(w: &mut Writer) {
    let input = w.input([4, 6], DType::F16);
    let scales = w.input([4], DType::F32);
    let global = w.input([1], DType::F32);
    let blocks = QuantScheme::default()
        .with_value(QuantValue::Q4S)
        .per_block([2, 3], ScaleDtype::UE4M3)
        .per_tensor(ScaleDtype::F32);
    let rhs = w.push(Operation::Module(Box::new(ModuleOp::Quantize {
        input,
        scales,
        global: Some(global),
        scheme: blocks,
    })));
    let quantized = w.push(Operation::Module(Box::new(ModuleOp::Quantize {
        input,
        scales: global,
        global: None,
        scheme: QuantScheme::default().with_store(QuantStore::PackedNative(1)),
    })));
    w.push(Operation::Module(Box::new(ModuleOp::Dequantize {
        input: quantized,
        dtype: FloatDType::BF16,
    })));
    let lhs = w.push(Operation::Movement {
        op: MovementOp::Permute {
            axes: [1, 0].into_iter().collect(),
        },
        input: quantized,
    });
    w.push(Operation::Module(Box::new(ModuleOp::QuantizedMatmul {
        lhs,
        rhs,
        dtype: FloatDType::F16,
    })));
}

fn elementwise(w: &mut Writer, x: TensorId, n: TensorId, b: TensorId) {
    for op in UnaryOp::ALL {
        let input = if *op == UnaryOp::Not { b } else { x };
        w.push(Operation::Unary { op: *op, input });
    }
    for op in BinaryOp::ALL {
        let bits = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        let lhs = if bits { n } else { x };
        w.push(Operation::Binary {
            op: *op,
            lhs,
            rhs: Operand::Tensor(lhs),
        });
    }
    for scalar in [Scalar::Int(-3), Scalar::UInt(3)] {
        w.push(Operation::Binary {
            op: BinaryOp::Add,
            lhs: n,
            rhs: scalar.into(),
        });
    }
    for (op, store) in CompareOp::ALL.iter().zip(
        [BoolStore::Native, BoolStore::U8, BoolStore::U32]
            .into_iter()
            .cycle(),
    ) {
        w.push(Operation::Compare {
            op: *op,
            lhs: x,
            rhs: Scalar::Float(0.5).into(),
            store,
        });
    }
    w.push(Operation::Where {
        mask: b,
        on_true: Operand::Tensor(x),
        on_false: Scalar::Float(-0.25).into(),
    });
    w.push(Operation::Where {
        mask: b,
        on_true: Scalar::Bool(true).into(),
        on_false: Operand::Tensor(b),
    });
    for dtype in [
        DType::F64,
        DType::F16,
        DType::BF16,
        DType::I32,
        DType::I16,
        DType::I8,
        DType::U64,
        DType::U32,
        DType::U16,
        DType::U8,
    ] {
        w.push(Operation::Cast { input: x, dtype });
    }
}

fn create(w: &mut Writer) {
    let full = |dtype, value| CreateOp::Full {
        shape: [2].into(),
        dtype,
        value,
    };
    let random = |distribution| CreateOp::Random {
        shape: [2].into(),
        dtype: DType::F32,
        distribution,
    };
    for op in [
        full(DType::F32, Scalar::Float(1.5)),
        full(DType::F32, Scalar::Float(f64::INFINITY)),
        full(DType::F32, Scalar::Float(f64::NEG_INFINITY)),
        full(DType::F32, Scalar::Float(f64::NAN)),
        full(DType::U64, Scalar::UInt(u64::MAX)),
        CreateOp::Arange {
            start: 5,
            step: -2,
            len: 3,
            dtype: DType::I64,
        },
        random(Distribution::Default),
        random(Distribution::Bernoulli(0.5)),
        random(Distribution::Uniform(-1.0, 1.0)),
        random(Distribution::Normal(0.0, 1.0)),
    ] {
        w.push(Operation::Create { op });
    }
}

fn reduce(w: &mut Writer, x: TensorId, b: TensorId) -> TensorId {
    let sum = w.push(Operation::Reduce {
        op: ReduceOp::Sum,
        input: x,
        dims: Dims::all(2),
    });
    let (arg_max, arg_min) = (
        ReduceOp::ArgMax {
            dtype: IntDType::I64,
        },
        ReduceOp::ArgMin {
            dtype: IntDType::I32,
        },
    );
    for op in [
        ReduceOp::Mean,
        ReduceOp::Prod,
        ReduceOp::Max,
        ReduceOp::Min,
        arg_max,
        arg_min,
    ] {
        w.push(Operation::Reduce {
            op,
            input: x,
            dims: Dims::one(1),
        });
    }
    for op in [ReduceOp::Any, ReduceOp::All] {
        w.push(Operation::Reduce {
            op,
            input: b,
            dims: Dims::one(0),
        });
    }
    sum
}

fn move_about(w: &mut Writer, x: TensorId, n: TensorId, b: TensorId) {
    let flat = w.push(Operation::Movement {
        op: MovementOp::Reshape {
            shape: [6, 1].into(),
        },
        input: n,
    });
    w.push(Operation::Movement {
        op: MovementOp::Expand {
            shape: [6, 4].into(),
        },
        input: flat,
    });
    let ranges = [
        SliceRange {
            start: 1,
            step: -1,
            len: 2,
        },
        SliceRange {
            start: 0,
            step: 2,
            len: 2,
        },
    ]
    .into();
    w.push(Operation::Movement {
        op: MovementOp::Slice { ranges },
        input: b,
    });
    let padding = [
        PadRange {
            before: 1,
            between: 2,
            after: 3,
        },
        PadRange::default(),
    ]
    .into();
    w.push(Operation::Movement {
        op: MovementOp::Pad {
            padding,
            value: Scalar::Float(0.0),
        },
        input: x,
    });
}

/// What joins tensors, and what positions that are data name.
fn find(w: &mut Writer, x: TensorId, b: TensorId) {
    w.push(Operation::Cat {
        dim: 1,
        inputs: vec![x, x],
    });
    let ranges: Box<[SliceRange]> = [SliceRange::full(2), SliceRange::full(3)].into();
    for values in [Operand::Tensor(x), Scalar::Float(2.0).into()] {
        w.push(Operation::SliceAssign {
            ranges: ranges.clone(),
            input: x,
            values,
        });
    }
    for op in ScanOp::ALL {
        w.push(Operation::Scan {
            op: *op,
            dim: 0,
            input: x,
        });
    }
    let dtype = IntDType::I64;
    for op in [SortOp::Values, SortOp::Indices { dtype }] {
        w.push(Operation::Sort {
            op,
            dim: 1,
            descending: true,
            len: 2,
            input: x,
        });
    }
    let pairs = w.push(Operation::Argwhere {
        count: 4,
        dtype,
        mask: b,
    });
    let list = w.input([2], DType::I32);
    let elements = w.input([2, 3], DType::I64);
    let at = |op| match op {
        IndexOp::Elements { .. } => elements,
        IndexOp::Select { .. } => list,
        IndexOp::Nd => pairs,
    };
    for (op, mode) in [
        (IndexOp::Elements { dim: 1 }, IndexingUpdateOp::Assign),
        (IndexOp::Elements { dim: 0 }, IndexingUpdateOp::Mul),
        (IndexOp::Select { dim: 0 }, IndexingUpdateOp::Add),
        (IndexOp::Select { dim: 0 }, IndexingUpdateOp::Min),
        (IndexOp::Nd, IndexingUpdateOp::Max),
    ] {
        let (input, indices) = (x, at(op));
        let values = w.push(Operation::Gather { op, input, indices });
        w.push(Operation::Scatter {
            op,
            mode,
            input,
            indices,
            values,
        });
    }
}

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1.json");

fn golden() -> String {
    std::fs::read_to_string(PATH).expect("the golden file is committed")
}

/// A change here that is no addition needs another [`IR_VERSION`]. An addition is written with `UPDATE_GOLDEN=1`.
#[test]
fn programs_of_version_1_read_and_write_as_they_did() {
    let program = program();
    let text = serde_json::to_string_pretty(&program).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(PATH, &text).unwrap();
    }
    let golden = golden();
    assert_eq!(serde_json::from_str::<Graph>(&golden).unwrap(), program);
    assert_eq!(golden, text, "the encoding changed");
}

fn decode(change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut value: serde_json::Value =
        serde_json::from_str(&golden()).expect("the golden file is JSON");
    change(&mut value);
    serde_json::from_value::<Graph>(value)
        .expect_err("the program was spoiled")
        .to_string()
}

#[test]
fn programs_of_another_version_are_refused() {
    let error = decode(|value| value["version"] = (IR_VERSION + 1).into());
    assert_eq!(
        error,
        GraphError::Version {
            found: IR_VERSION + 1
        }
        .to_string()
    );
}

#[test]
fn programs_that_lie_about_a_tensor_are_refused() {
    let error = decode(|value| value["tensors"]["4"]["shape"] = vec![2, 4].into());
    assert_eq!(
        error,
        GraphError::Description {
            tensor: TensorId::new(4)
        }
        .to_string()
    );
    // An input of another type changes what its first use implies.
    let error = decode(|value| value["tensors"]["1"]["dtype"] = "F64".into());
    assert_eq!(
        error,
        GraphError::Description {
            tensor: TensorId::new(4)
        }
        .to_string()
    );
}

#[test]
fn programs_with_unknown_tensors_are_refused() {
    let error = decode(|value| value["outputs"] = vec![9999].into());
    assert_eq!(
        error,
        GraphError::Undefined {
            tensor: TensorId::new(9999)
        }
        .to_string()
    );
    let error = decode(|value| {
        value["tensors"]["9999"] = serde_json::json!({"shape": [1], "dtype": "F32"})
    });
    assert_eq!(
        error,
        GraphError::Undefined {
            tensor: TensorId::new(9999)
        }
        .to_string()
    );
}
