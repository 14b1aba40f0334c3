//! What instructions allocate: buffers for elements where they cannot write in place, and little else.
//!
//! A test binary of its own: the counting allocator is the program's.

use burn_backend::{Build, Device, Handle};
use burn_backend_tests::read;
use burn_dispatch::{autodiff, registry, run};
use burn_flex::device as flex;
use burn_ir::{BinaryOp, CompareOp, Dims, MovementOp, Operand, Operation, ReduceOp, UnaryOp};
use burn_std::{BoolStore, Bytes, DType, Scalar, TensorData};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    /// Bytes in use, and the most since the start of a measurement.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
    static ALL: Cell<usize> = const { Cell::new(0) };
    static LARGE: Cell<usize> = const { Cell::new(0) };
}

/// So many that nothing but a buffer of elements is as large; a kernel's own scratch memory stays far below.
const ELEMENTS: usize = 100_000;
/// In bytes.
const BUFFER: usize = ELEMENTS * size_of::<f32>();

fn count(bytes: usize) {
    // The counters are gone while a thread ends, which no test measures.
    let _ = ALL.try_with(|all| all.set(all.get() + 1));
    moved(bytes as isize);
    if bytes >= BUFFER {
        let _ = LARGE.try_with(|large| large.set(large.get() + 1));
    }
}

fn moved(bytes: isize) {
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(live.get())));
    });
}

// SAFETY: every call goes to the system's allocator with the arguments it came with; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        moved(-(layout.size() as isize));
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        moved(-(layout.size() as isize));
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations of `run`: all, and those of buffers.
fn allocations<T>(run: impl FnOnce() -> T) -> (usize, usize) {
    Bytes::allocate_singly();
    let before = (ALL.get(), LARGE.get());
    let output = run();
    let after = (ALL.get(), LARGE.get());
    drop(output);
    (after.0 - before.0, after.1 - before.1)
}

/// The most bytes that are in use at once while `run` runs, beyond those before.
fn most_bytes<T>(run: impl FnOnce() -> T) -> isize {
    Bytes::allocate_singly();
    let before = LIVE.get();
    MOST.set(before);
    drop(run());
    MOST.get() - before
}

fn ones(device: Device, elements: usize) -> Handle {
    device.upload(TensorData::new(vec![1.0f32; elements], [elements]))
}

/// `exp((x + 1) · 2)`
fn chain(mut device: Device, x: Handle) -> Handle {
    let shifted = device.add_scalar(x, 1.0);
    let scaled = device.mul_scalar(shifted, 2.0);
    device.unary(UnaryOp::Exp, scaled)
}

#[test]
fn a_chain_on_a_tensor_that_nobody_else_holds_allocates_no_buffer() {
    let x = ones(flex(), ELEMENTS);
    let (_, buffers) = allocations(|| chain(flex(), x));
    assert_eq!(buffers, 0);
}

#[test]
fn a_chain_on_a_tensor_that_lives_on_allocates_one_buffer() {
    let x = ones(flex(), ELEMENTS);
    let (_, buffers) = allocations(|| chain(flex(), x.clone()));
    assert!(buffers <= 1);
    let elements: Vec<f32> = read(x).to_vec().unwrap();
    assert!(
        elements.iter().all(|x| *x == 1.0),
        "the tensor that lives on keeps its elements"
    );
}

/// Held by tests on the fusing device: a wait for it runs what other threads let wait, on the thread that waits.
static FUSED: Mutex<()> = Mutex::new(());

#[test]
fn a_fused_chain_overwrites_what_nobody_else_holds_and_allocates_its_result_otherwise() {
    let _alone = FUSED.lock();
    let device = registry::fused(flex());
    let run = |x: Handle| {
        let (_, buffers) = allocations(|| {
            let y = chain(device, x);
            device.sync().expect("the device is sound");
            y
        });
        buffers
    };
    assert_eq!(run(ones(device, ELEMENTS)), 0);
    let held = ones(device, ELEMENTS);
    // At most one: a buffer that another test freed may serve.
    assert!(run(held.clone()) <= 1);
    let elements: Vec<f32> = read(held).to_vec().unwrap();
    assert!(elements.iter().all(|x| *x == 1.0));
}

#[test]
fn a_held_value_of_a_fused_group_is_written_with_it_and_not_computed_again() {
    let _alone = FUSED.lock();
    let mut device = registry::fused(flex());
    let held = device.unary(UnaryOp::Exp, ones(device, ELEMENTS));
    let square = device.mul(held.clone(), held.clone());
    read(square);
    let (_, first) = allocations(|| read(held.clone()));
    let (_, again) = allocations(|| read(held.clone()));
    assert_eq!(first, again);
}

#[test]
fn a_chain_on_a_tape_keeps_only_what_rules_read() {
    // The rules of `+ 1` and `· 2` read nothing, and that of `exp` reads its result: one buffer for the first sum.
    let tape = registry::autodiff(flex());
    // No other test has buffers of this size, which would be used again.
    let x = autodiff::require_grad(ones(tape, 3 * ELEMENTS)).expect("the device has a tape");
    let (_, buffers) = allocations(|| chain(tape, x.clone()));
    assert_eq!(buffers, 1);
}

/// The gradient of a perceptron of many layers, `relu(x·W + b)`, on 512 rows of 64 features.
fn deep(mut tape: Device, layers: usize) -> autodiff::Gradients {
    let weight = |at: usize| {
        let place = |cell: usize| ((cell + 7 * at) as f32 * 0.618_034).fract() - 0.5;
        let values: Vec<f32> = (0..64 * 64).map(|cell| 0.4 * place(cell)).collect();
        tape.upload(TensorData::new(values, [64, 64]))
    };
    let leaf = |tensor| autodiff::require_grad(tensor).expect("the device has a tape");
    let parameters: Vec<(Handle, Handle)> = (0..layers)
        .map(|at| {
            let bias = tape.upload(TensorData::new(vec![0.01f32; 64], [1, 64]));
            (leaf(weight(at)), leaf(bias))
        })
        .collect();
    let mut x = tape.upload(TensorData::new(vec![1.0f32; 512 * 64], [512, 64]));
    for (weight, bias) in &parameters {
        x = tape.matmul(x, weight.clone());
        x = tape.add(x, bias.clone());
        x = tape.activation(burn_ir::ActivationOp::Relu, x);
    }
    let loss = tape.reduce(ReduceOp::Sum, x, Dims::all(2));
    autodiff::backward(&loss, false).expect("the tape is new")
}

#[test]
fn checkpointing_takes_a_third_off_the_memory_of_a_deep_network() {
    let tape = registry::autodiff(flex());
    let balanced = autodiff::Mode {
        checkpointing: autodiff::GradientCheckpointingStrategy::Balanced,
        anomalies: false,
    };
    let checkpointing = registry::with_mode(tape, balanced).expect("the device has a tape");
    // Memory that stays, such as that of a thread's scratch, is there afterwards.
    deep(tape, 2);
    let (kept, again) = (
        most_bytes(|| deep(tape, 24)),
        most_bytes(|| deep(checkpointing, 24)),
    );
    println!("{kept} bytes, {again} with checkpointing");
    assert!(again * 10 <= kept * 7, "{again} of {kept}");
}

#[test]
fn views_allocate_no_buffer() {
    let x = ones(flex(), ELEMENTS);
    let reshape = MovementOp::Reshape {
        shape: [10, ELEMENTS / 10].into(),
    };
    let permute = MovementOp::Permute {
        axes: [1, 0].into_iter().collect(),
    };
    let (_, buffers) = allocations(|| {
        let mut device = flex();
        let x = device.movement(reshape, x.clone());
        device.movement(permute, x)
    });
    assert_eq!(buffers, 0);
}

/// The most allocations of one instruction on one element: a buffer with its owner, the handle, and what a family
/// needs for itself. A number that grows is felt in every small model.
#[test]
fn instructions_on_one_element_allocate_little() {
    let flex = flex();
    let x = || ones(flex, 1);
    let unary = |input| Operation::Unary {
        op: UnaryOp::Exp,
        input,
    };
    let add = |lhs, rhs| Operation::Binary {
        op: BinaryOp::Add,
        lhs,
        rhs: Operand::Tensor(rhs),
    };
    let matrix = || flex.upload(TensorData::new(vec![1.0f32], [1, 1]));
    let held = x();
    let mut counts = Vec::new();
    let mut measure = |name, operation: Operation<Handle>| {
        let (all, _) = allocations(|| run(flex, operation));
        println!("{name}: {all} allocations");
        counts.push((name, all));
    };
    measure("unary, moved", unary(x()));
    measure("unary, held", unary(held.clone()));
    measure("binary, moved", add(x(), x()));
    measure("binary, held", add(held.clone(), held.clone()));
    measure(
        "binary by scalar, moved",
        Operation::Binary {
            op: BinaryOp::Mul,
            lhs: x(),
            rhs: Scalar::Float(2.0).into(),
        },
    );
    measure(
        "compare",
        Operation::Compare {
            op: CompareOp::Lower,
            lhs: held.clone(),
            rhs: Scalar::Float(0.0).into(),
            store: BoolStore::Native,
        },
    );
    measure(
        "cast",
        Operation::Cast {
            input: held.clone(),
            dtype: DType::F64,
        },
    );
    measure(
        "reduce",
        Operation::Reduce {
            op: ReduceOp::Sum,
            input: held.clone(),
            dims: Dims::one(0),
        },
    );
    measure(
        "reshape",
        Operation::Movement {
            op: MovementOp::Reshape {
                shape: [1, 1].into(),
            },
            input: held.clone(),
        },
    );
    measure(
        "matmul",
        Operation::Matmul {
            lhs: matrix(),
            rhs: matrix(),
        },
    );
    // The elements, what owns them, what describes them, and the handle. A description apart makes a tensor one address, which
    // saves more time in handing it on than its allocation takes.
    let most = [
        ("unary, moved", 1),
        ("unary, held", 4),
        ("binary, moved", 1),
        ("binary, held", 4),
        ("binary by scalar, moved", 1),
        ("compare", 4),
        ("cast", 4),
        ("reduce", 5),
        ("reshape", 2),
        ("matmul", 4),
    ];
    for ((name, found), (same, most)) in counts.into_iter().zip(most) {
        assert_eq!(name, same);
        assert!(
            found <= most,
            "{name} allocates {found} times, more than {most}"
        );
    }
}
