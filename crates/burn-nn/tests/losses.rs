//! Losses compared to PyTorch: values, and gradients of inputs.

#![cfg(all(feature = "flex", feature = "autodiff"))]

mod fixture;

use burn_core::tensor::{Int, Tensor, activation::log_softmax};
use burn_nn::loss::*;
use fixture::{Case, each};

/// Targets of four rows and three classes.
fn classes(case: &Case) -> Tensor<1, Int> {
    Tensor::from_data([2, 0, 1, 2], &case.device)
}

fn signs(case: &Case) -> Tensor<2> {
    Tensor::from_data([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]], &case.device)
}

/// The losses of each element, or what the name ends with.
fn reduced<const D: usize>(
    case: &Case,
    each: impl Fn() -> Tensor<D>,
    all: impl Fn(Reduction) -> Tensor<1>,
) {
    let reduction = match case.name.rsplit(' ').next() {
        Some("none") => return case.check(each()),
        Some("mean") => Reduction::Mean,
        Some("sum") => Reduction::Sum,
        Some("batchmean") => Reduction::BatchMean,
        _ => panic!("an unknown reduction: {}", case.name),
    };
    case.check_scalar(all(reduction));
}

macro_rules! pair {
    ($case:ident, $loss:expr $(, $input:ident)+) => {{
        let loss = $loss;
        $(let $input = $case.input::<2>(stringify!($input));)+
        reduced(
            $case,
            || loss.forward_no_reduction($($input.clone()),+),
            |reduction| loss.forward($($input.clone(),)+ reduction),
        )
    }};
}

fn differences(case: &Case, family: &str) {
    match family {
        "mse" => pair!(case, MseLoss::new(), x, y),
        "l1" => pair!(case, LpLossConfig::l1(), x, y),
        "l3" => {
            let loss = LpLossConfig::new(3.0).init();
            case.check(loss.forward_no_reduction(case.input::<2>("x"), case.input("y")));
        }
        "huber" => pair!(case, HuberLossConfig::new(0.8).init(), x, y),
        "smooth_l1" => {
            let loss = SmoothL1LossConfig::new().with_beta(0.7).init();
            let (x, y) = (case.input::<2>("x"), case.input::<2>("y"));
            reduced(
                case,
                || loss.forward(x.clone(), y.clone()),
                |reduction| loss.forward_with_reduction(x.clone(), y.clone(), reduction),
            );
        }
        name => panic!("an unknown case: {name}"),
    }
}

fn distributions(case: &Case) {
    let counts = || Tensor::<2>::from_data([[0.0, 1.0, 5.0], [1.5, 2.0, 0.5]], &case.device);
    let poisson = PoissonNllLossConfig::new();
    match case.name {
        "poisson" => {
            let loss = poisson.init();
            case.check(loss.forward_no_reduction(case.input("x"), counts()));
        }
        "poisson full" => {
            let loss = poisson.with_full(true).init();
            case.check_scalar(loss.forward(case.input("x"), counts(), Reduction::Mean));
        }
        "poisson of rates" => {
            let loss = poisson.with_log_input(false).init();
            case.check_scalar(loss.forward(case.input("x"), counts(), Reduction::Sum));
        }
        name if name.starts_with("gaussian") => {
            let config = GaussianNLLLossConfig::new().with_full(name.contains("full"));
            pair!(case, config.init(), x, y, var);
        }
        name => {
            let config = KLDivLossConfig::new().with_log_target(name.contains("logarithms"));
            pair!(case, config.init(), x, y);
        }
    }
}

fn entropies(case: &Case) {
    let device = &case.device;
    let weights = Some(vec![1.0, 2.0, 0.5]);
    let answers = || Tensor::<2, Int>::from_data([[1, 0, 1], [0, 0, 1]], device);
    let binary = BinaryCrossEntropyLossConfig::new();
    let entropy = CrossEntropyLossConfig::new();
    let binary = match case.name {
        "bce of probabilities" => binary,
        "bce of logits" => binary.with_logits(true),
        "bce weighted" => binary.with_logits(true).with_weights(weights.clone()),
        _ => {
            let entropy = match case.name {
                "ce" => entropy,
                "ce weighted" => entropy.with_weights(weights),
                "ce padded" => entropy.with_pad_tokens(Some(vec![2])),
                "ce smoothed" => entropy.with_smoothing(Some(0.1)),
                "ce weighted, smoothed and padded" => entropy
                    .with_weights(weights)
                    .with_smoothing(Some(0.2))
                    .with_pad_tokens(Some(vec![1])),
                "ce of probabilities" => entropy.with_logits(false),
                name => panic!("an unknown case: {name}"),
            };
            let loss = entropy.init(device);
            return case.check_scalar(loss.forward(case.input("x"), classes(case)));
        }
    };
    let loss = binary.init(device);
    case.check_scalar(loss.forward(case.input::<2>("x"), answers()));
}

fn margins(case: &Case, family: &str) {
    let power: Option<f64> = case.name.rsplit(' ').next().and_then(|p| p.parse().ok());
    match (family, power) {
        ("hinge", None) => {
            let loss = HingeEmbeddingLossConfig::new().with_margin(0.8).init();
            let x = case.input::<2>("x");
            reduced(
                case,
                || loss.forward_no_reduction(x.clone(), signs(case)),
                |reduction| loss.forward(x.clone(), signs(case), reduction),
            );
        }
        ("ranking", None) => {
            let loss = MarginRankingLossConfig::new().with_margin(0.3).init();
            case.check(loss.forward_no_reduction(case.input("x"), case.input("z"), signs(case)));
        }
        ("soft_margin", None) => {
            let loss = SoftMarginLoss::new();
            case.check(loss.forward_no_reduction(case.input("x"), signs(case)));
        }
        ("cosine", None) => {
            let target = Tensor::from_data([1, -1, -1, 1], &case.device);
            let (x, z) = (case.input("x"), case.input("z"));
            match case.name.ends_with("mean") {
                true => case.check_scalar(CosineEmbeddingLoss::new().forward(x, z, target)),
                false => {
                    let loss = CosineEmbeddingLossConfig::new().with_margin(-0.2).init();
                    case.check(loss.forward_no_reduction(x, z, target));
                }
            }
        }
        ("multi_margin", Some(power)) => {
            let loss = MultiMarginLossConfig::new()
                .with_margin(0.7)
                .with_p(power as i32);
            case.check(
                loss.init()
                    .forward_no_reduction(case.input("x"), classes(case)),
            );
        }
        ("triplet", Some(power)) => {
            let loss = TripletMarginLossConfig::new()
                .with_margin(1.5)
                .with_p(power);
            let [a, b, c] = ["a", "b", "c"].map(|key| case.input(key));
            case.check(loss.init().forward_no_reduction(a, b, c));
        }
        _ => panic!("an unknown case: {}", case.name),
    }
}

fn sequences(case: &Case) {
    let ints = |list: &[i32]| Tensor::<1, Int>::from_data(list, &case.device);
    match case.name.starts_with("ctc") {
        true => {
            let targets: Tensor<2, Int> = ints(&[1, 1, 2, 3, 1, 0, 2, 0, 0]).reshape([3, 3]);
            let lengths = [ints(&[6, 4, 5]), ints(&[3, 2, 1])];
            let probs = log_softmax(case.input::<3>("x"), 2);
            let loss = CTCLossConfig::new().init();
            let arguments = || {
                let [steps, letters] = lengths.clone();
                (probs.clone(), targets.clone(), steps, letters)
            };
            reduced(
                case,
                || {
                    let (x, y, steps, letters) = arguments();
                    loss.forward(x, y, steps, letters)
                },
                |reduction| {
                    let (x, y, steps, letters) = arguments();
                    loss.forward_with_reduction(x, y, steps, letters, reduction)
                },
            );
        }
        false => {
            let targets: Tensor<2, Int> = ints(&[1, 2, 2, 0]).reshape([2, 2]);
            let logits = case.input::<4>("x");
            let loss = RNNTLossConfig::new().init();
            let (steps, labels) = (ints(&[3, 2]), ints(&[2, 1]));
            reduced(
                case,
                || {
                    loss.forward(
                        logits.clone(),
                        targets.clone(),
                        steps.clone(),
                        labels.clone(),
                    )
                },
                |reduction| {
                    let targets = targets.clone();
                    let lengths = (steps.clone(), labels.clone());
                    loss.forward_with_reduction(
                        logits.clone(),
                        targets,
                        lengths.0,
                        lengths.1,
                        reduction,
                    )
                },
            );
        }
    }
}

#[test]
fn losses_agree_with_pytorch() {
    each(include_str!("fixtures/losses/losses.json"), |case| {
        let family = case.name.split(' ').next().unwrap_or_default();
        match family {
            "mse" | "l1" | "l3" | "huber" | "smooth_l1" => differences(case, family),
            "gaussian" | "poisson" | "kl" => distributions(case),
            "bce" | "ce" => entropies(case),
            "ctc" | "rnnt" => sequences(case),
            _ => margins(case, family),
        }
    });
}
