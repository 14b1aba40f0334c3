//! Products by trial: the first of a kind runs every kernel that may be the fastest, the others that which was.

use super::{FEW, Kernel, Problem};
use cubecl::tune::{LocalTuner, Tunable, TunableSet, TuneInputs, local_tuner};

/// What was the fastest on a device, by [`key`].
static TUNER: LocalTuner<String, String> = local_tuner!("products");

/// A product as the tuner sees it.
struct Trial;

impl TuneInputs for Trial {
    type At<'a> = &'a Problem<'a>;
}

/// Runs a product with the kernel that was the fastest for its kind, after trying all if this is the first.
pub(super) fn run(problem: &Problem) {
    let device = problem.device.name();
    let kernels = TUNER.init(&device, candidates);
    TUNER.execute(&device, problem.device.client(), kernels, problem);
}

/// The kind of a product. Products of a kind have nearly the same sizes, and exactly the same layouts.
fn key(problem: &&Problem<'_>) -> String {
    let Problem { m, n, k, .. } = problem;
    let [lhs, rhs] = problem.sides();
    let sizes = [problem.batches(), *m, *n, *k].map(usize::next_power_of_two);
    let masked = problem.is_masked(128, 128, 64);
    format!("{:?} {sizes:?} {lhs:?} {rhs:?} {masked}", problem.dtype())
}

/// All kernels. Results name them by their place here, so they are the same for every device.
fn candidates() -> TunableSet<String, Trial, ()> {
    TunableSet::new_cloning_inputs(key)
        .with(candidate("large tiles", |problem| tile(problem, 0)))
        .with(candidate("medium tiles", |problem| tile(problem, 1)))
        .with(candidate("small tiles", |problem| tile(problem, 2)))
        .with(candidate("64 columns", |problem| slices(problem, 64)))
        .with(candidate("16 columns", |problem| slices(problem, 16)))
        .with(candidate("planes", |problem| few(problem)?.planes()))
}

fn candidate(name: &str, choose: fn(&Problem<'_>) -> Option<Kernel>) -> Tunable<String, Trial, ()> {
    Tunable::new(name, move |problem: &Problem<'_>| match choose(problem) {
        Some(kernel) => {
            problem.launch(kernel);
            Ok(())
        }
        None => Err("not for this product"),
    })
}

/// The tile of this place among those of the element type, for products that may fill it.
fn tile(problem: &Problem<'_>, at: usize) -> Option<Kernel> {
    let (_, kernel) = *problem.tiles().get(at)?;
    (problem.m > 1).then_some(kernel)
}

fn slices(problem: &Problem<'_>, columns: usize) -> Option<Kernel> {
    Some(Kernel::Slices(few(problem)?.slices(columns)))
}

/// The product if its elements, or rows, may be computed on their own.
fn few<'p, 'd>(problem: &'p Problem<'d>) -> Option<&'p Problem<'d>> {
    (problem.m == 1 || problem.work() <= FEW).then_some(problem)
}
