//! The sample table is complete and agrees with inference; no engine takes part.

use burn_backend_tests::{Sample, samples};
use burn_ir::{
    ActivationOp, BinaryOp, CompareOp, CreateOp, IndexOp, ModuleOp, MovementOp, Operation,
    ReduceOp, ScanOp, SortOp, UnaryOp,
};
use std::collections::BTreeSet;

/// The leaf names of an enum whose leaves carry attributes. The match stops compiling when a leaf is added, which is
/// the moment to add its name here and a sample to the table.
macro_rules! leaves {
    ($op:ident { $($leaf:ident => $name:literal),* $(,)? }) => {{
        fn _listed(op: &$op) {
            match op {
                $($op::$leaf { .. } => (),)*
            }
        }
        vec![$($name),*]
    }};
}

/// The families without leaves; the match is here for the same reason.
fn families() -> Vec<&'static str> {
    fn _listed(operation: &Operation<()>) {
        match operation {
            Operation::Create { .. }
            | Operation::Unary { .. }
            | Operation::Binary { .. }
            | Operation::Compare { .. }
            | Operation::Reduce { .. }
            | Operation::Movement { .. }
            | Operation::Activation { .. }
            | Operation::Module(_)
            | Operation::Gather { .. }
            | Operation::Scatter { .. }
            | Operation::Scan { .. }
            | Operation::Sort { .. } => (),
            Operation::Cast { .. }
            | Operation::Where { .. }
            | Operation::Matmul { .. }
            | Operation::Cat { .. }
            | Operation::SliceAssign { .. }
            | Operation::Argwhere { .. } => (),
        }
    }
    vec!["cast", "where", "matmul", "cat", "slice_assign", "argwhere"]
}

/// The layers; the match is here for the same reason.
fn layers() -> Vec<&'static str> {
    fn _listed(op: &ModuleOp<()>) {
        match op {
            ModuleOp::Conv { .. }
            | ModuleOp::ConvTranspose { .. }
            | ModuleOp::ConvWeight { .. }
            | ModuleOp::Unfold { .. }
            | ModuleOp::Fold { .. }
            | ModuleOp::MaxPool { .. }
            | ModuleOp::MaxPoolIndices { .. }
            | ModuleOp::Resample { .. }
            | ModuleOp::Attention { .. }
            | ModuleOp::LayerNorm { .. }
            | ModuleOp::Quantize { .. }
            | ModuleOp::Dequantize { .. }
            | ModuleOp::QuantizedMatmul { .. } => (),
        }
    }
    vec![
        "conv",
        "conv_transpose",
        "conv_weight",
        "unfold",
        "fold",
        "max_pool",
        "max_pool_indices",
        "resample",
        "attention",
        "layer_norm",
        "quantize",
        "dequantize",
        "quantized_matmul",
    ]
}

fn leaves() -> BTreeSet<&'static str> {
    let mut names = families();
    names.extend(UnaryOp::ALL.iter().map(|op| op.name()));
    names.extend(BinaryOp::ALL.iter().map(|op| op.name()));
    names.extend(CompareOp::ALL.iter().map(|op| op.name()));
    names.extend(leaves!(CreateOp { Full => "full", Arange => "arange", Random => "random" }));
    names.extend(leaves!(ReduceOp {
        Sum => "sum",
        Mean => "mean",
        Prod => "prod",
        Max => "max",
        Min => "min",
        ArgMax => "argmax",
        ArgMin => "argmin",
        Any => "any",
        All => "all",
    }));
    names.extend(leaves!(MovementOp {
        Reshape => "reshape",
        Permute => "permute",
        Expand => "expand",
        Slice => "slice",
        Pad => "pad",
    }));
    names.extend(leaves!(ActivationOp {
        Relu => "relu",
        Gelu => "gelu",
        Sigmoid => "sigmoid",
        Softmax => "softmax",
        LogSoftmax => "log_softmax",
    }));
    names.extend(ScanOp::ALL.iter().map(|op| op.name()));
    names.extend(leaves!(IndexOp { Elements => "gather", Select => "select", Nd => "gather_nd" }));
    names.extend(["scatter", "select_assign", "scatter_nd"]);
    names.extend(leaves!(SortOp { Values => "sort", Indices => "argsort" }));
    names.extend(layers());
    names.into_iter().collect()
}

#[test]
fn every_leaf_has_a_sample() {
    let sampled: BTreeSet<_> = samples::all().iter().map(Sample::name).collect();
    let missing: Vec<_> = leaves().difference(&sampled).copied().collect();
    assert!(missing.is_empty(), "no sample of {missing:?}");
}

#[test]
fn every_leaf_with_inputs_has_a_sample_without_elements() {
    let empty: BTreeSet<_> = samples::all()
        .iter()
        .filter(|sample| {
            let already = sample.inputs.iter().any(|input| input.shape.contains(&0));
            sample.inputs.is_empty() || already || sample.emptied(sample.dtypes[0]).is_some()
        })
        .map(Sample::name)
        .collect();
    let missing: Vec<_> = leaves().difference(&empty).copied().collect();
    assert!(missing.is_empty(), "no empty sample of {missing:?}");
}

#[test]
fn every_sample_is_legal_on_the_types_it_declares_and_the_reference_has_the_inferred_description() {
    for sample in samples::all() {
        for dtype in sample.dtypes {
            let described = sample
                .described(*dtype)
                .infer()
                .unwrap_or_else(|error| panic!("{sample:?}: {error}"))
                .one();
            let arrays = sample.arrays(*dtype, true);
            if let Ok(expected) = sample.expected(*dtype, &arrays) {
                let found = (&expected.array.shape[..], expected.array.dtype);
                assert_eq!(found, (&described.shape[..], described.dtype), "{sample:?}");
                assert_eq!(
                    expected.slack.len(),
                    expected.array.data.len(),
                    "{sample:?}"
                );
            }
        }
    }
}

#[test]
fn samples_have_distinct_descriptions() {
    let mut seen = BTreeSet::new();
    for sample in samples::all() {
        // The type of positions distinguishes argmax and argmin.
        let described = format!("{sample:?} {:?}", sample.operation(sample.dtypes[0]));
        assert!(seen.insert(described.clone()), "{described} is there twice");
    }
}
