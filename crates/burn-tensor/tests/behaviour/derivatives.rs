//! Derivatives of the methods of tensors and of activations against differences: to the second order where they are
//! smooth. Those of single instructions are checked with the instructions on all layouts, those of layers in `slopes`.

use super::ad;
use super::slopes::{derivatives_agree, flat};
use burn_tensor::activation::*;
use burn_tensor::loss::cross_entropy_with_logits;
use burn_tensor::module::*;
use burn_tensor::ops::*;
use burn_tensor::{Bool, IndexingUpdateOp, Int, Tensor, s};

type Function = fn(Tensor<1>) -> Tensor<1>;

#[track_caller]
fn agree(order: usize, functions: &[(&str, Function)]) {
    for (name, function) in functions {
        for order in 1..=order {
            derivatives_agree(name, &[12], order, &|inputs| function(inputs[0].clone()));
        }
    }
}

fn table(x: Tensor<1>) -> Tensor<2> {
    x.reshape([3, 4])
}

fn mask() -> Tensor<2, Bool> {
    let rows = [
        [true, false, false, true],
        [false, true, true, true],
        [false, false, true, false],
    ];
    Tensor::from_data(rows, &ad())
}

fn ints<const D: usize>(values: impl Into<burn_tensor::TensorData>) -> Tensor<D, Int> {
    Tensor::from_data(values, &ad())
}

#[test]
fn smooth_functions_have_right_derivatives() {
    agree(
        2,
        &[
            ("acos", |x| (x * 0.9).acos()),
            ("acosh", |x| (x + 2.5).acosh()),
            ("asin", |x| (x * 0.9).asin()),
            ("asinh", |x| x.asinh()),
            ("atan", |x| x.atan()),
            ("atanh", |x| (x * 0.9).atanh()),
            ("cos", |x| x.cos()),
            ("cosh", |x| x.cosh()),
            ("deg2rad", |x| x.deg2rad().sin()),
            ("erf", |x| x.erf()),
            ("exp", |x| x.exp()),
            ("log", |x| (x + 1.5).log()),
            ("log1p", |x| (x + 0.5).log1p()),
            ("powf_scalar", |x| (x + 1.5).powf_scalar(2.5)),
            ("powi_scalar", |x| x.powi_scalar(3)),
            ("powi_scalar, negative", |x| (x + 2.5).powi_scalar(-2)),
            ("rad2deg", |x| (x.rad2deg() * 0.01).sin()),
            ("recip", |x| (x + 2.0).recip()),
            ("sin", |x| x.sin()),
            ("sinh", |x| x.sinh()),
            ("sqrt", |x| (x + 1.5).sqrt()),
            ("square", |x| x.square()),
            ("tan", |x| x.tan()),
            ("tanh", |x| x.tanh()),
        ],
    );
}

#[test]
fn smooth_activations_have_right_derivatives() {
    agree(
        2,
        &[
            ("gelu", gelu),
            ("gelu_approximate", gelu_approximate),
            ("glu", |x| flat(glu(table(x), 1))),
            ("log_sigmoid", log_sigmoid),
            ("log_softmax", |x| flat(log_softmax(table(x), 1))),
            ("mish", mish),
            ("quiet_softmax", |x| flat(quiet_softmax(table(x), 0))),
            ("sigmoid", sigmoid),
            ("silu", silu),
            ("softmax", |x| flat(softmax(table(x), 0))),
            ("softmin", |x| flat(softmin(table(x), 1))),
            ("softplus", |x| softplus(x, 1.5)),
            ("tanh", tanh),
            ("tanhshrink", tanhshrink),
        ],
    );
}

#[test]
fn activations_with_kinks_have_right_derivatives() {
    agree(
        1,
        &[
            ("celu", |x| celu(x, 0.8)),
            ("elu", |x| elu(x, 0.8)),
            ("hard_shrink", |x| hard_shrink(x, 0.5)),
            ("hard_sigmoid", |x| hard_sigmoid(x, 0.7, 0.5)),
            ("hard_swish", |x| hard_swish(x * 4.0)),
            ("hardtanh", |x| hardtanh(x, -0.5, 0.7)),
            ("leaky_relu", |x| leaky_relu(x, 0.1)),
            ("relu", relu),
            ("relu6", |x| relu6(x * 9.0)),
            ("selu", selu),
            ("shrink", |x| shrink(x, 0.5, 0.2)),
            ("soft_shrink", |x| soft_shrink(x, 0.4)),
            ("softplus_with_threshold", |x| {
                softplus_with_threshold(x, 2.0, 1.0)
            }),
            ("softsign", softsign),
            ("threshold", |x| threshold(x, 0.1, 7.0)),
            ("thresholded_relu", |x| thresholded_relu(x, 0.3)),
        ],
    );
    derivatives_agree("prelu", &[24, 3], 1, &|inputs| {
        flat(prelu(
            inputs[0].clone().reshape([2, 3, 4]),
            inputs[1].clone(),
        ))
    });
}

#[test]
fn reductions_and_running_values_have_right_derivatives() {
    agree(
        2,
        &[
            ("mean", |x| x.square().mean()),
            ("mean_dim", |x| flat(table(x).square().mean_dim(0))),
            ("mean_dims", |x| flat(table(x).square().mean_dims(&[0, 1]))),
            ("prod", |x| x.prod()),
            ("prod_dim", |x| flat(table(x).prod_dim(1))),
            ("prod_dims", |x| flat(table(x).prod_dims(&[0, 1]))),
            ("sum_dim", |x| flat(table(x).square().sum_dim(0))),
            ("sum_dims_squeeze", |x| {
                table(x).square().sum_dims_squeeze::<1, _>(&[0])
            }),
            ("var", |x| flat(table(x).var(1))),
            ("var_bias", |x| flat(table(x).var_bias(0))),
            ("var_mean", |x| flat(table(x).var_mean(1).0)),
            ("var_mean_bias", |x| flat(table(x).var_mean_bias(1).0)),
            ("cov", |x| flat(table(x).cov(1, 1))),
            ("cumsum", |x| flat(table(x).square().cumsum(0))),
            ("cumprod", |x| flat(table(x).cumprod(1))),
        ],
    );
    agree(
        1,
        &[
            ("max", |x| x.max()),
            ("max_dim", |x| flat(table(x).max_dim(0))),
            ("max_dims", |x| flat(table(x).max_dims(&[0, 1]))),
            ("max_abs", |x| x.max_abs()),
            ("max_abs_dim", |x| flat(table(x).max_abs_dim(1))),
            ("max_abs_dims", |x| flat(table(x).max_abs_dims(&[0]))),
            ("max_dim_with_indices", |x| {
                flat(table(x).max_dim_with_indices(1).0)
            }),
            ("min", |x| x.min()),
            ("min_dim", |x| flat(table(x).min_dim(0))),
            ("min_dims", |x| flat(table(x).min_dims(&[1]))),
            ("min_dim_with_indices", |x| {
                flat(table(x).min_dim_with_indices(1).0)
            }),
            ("cummax", |x| flat(table(x).cummax(1))),
            ("cummin", |x| flat(table(x).cummin(0))),
            ("sort", |x| flat(table(x).sort(1))),
            ("sort_descending", |x| flat(table(x).sort_descending(0))),
            ("sort_with_indices", |x| {
                flat(table(x).sort_with_indices(1).0)
            }),
            ("topk", |x| flat(table(x).topk(2, 1))),
            ("topk_with_indices", |x| {
                flat(table(x).topk_with_indices(2, 0).0)
            }),
            ("median", |x| flat(table(x).median(0))),
            ("median_with_indices", |x| {
                flat(table(x).median_with_indices(0).0)
            }),
            ("abs", |x| x.abs()),
            ("clamp", |x| x.clamp(-0.5, 0.6)),
            ("clamp_max", |x| x.clamp_max(0.6)),
            ("clamp_min", |x| x.clamp_min(-0.5)),
            ("remainder_scalar", |x| (x * 3.0).remainder_scalar(0.7)),
        ],
    );
}

#[test]
fn functions_of_two_tensors_have_right_derivatives() {
    type Pair = fn(Tensor<1>, Tensor<1>) -> Tensor<1>;
    let smooth: &[(&str, Pair)] = &[
        ("add", |x, y| (x + y).sin()),
        ("sub", |x, y| (x - y).sin()),
        ("mul", |x, y| x * y),
        ("div", |x, y| x / (y + 2.0)),
        ("atan2", |x, y| (x + 2.0).atan2(y)),
        ("hypot", |x, y| x.hypot(y + 2.0)),
        ("powf", |x, y| (x + 1.5).powf(y)),
        ("matmul", |x, y| flat(table(x).matmul(y.reshape([4, 3])))),
        ("cross", |x, y| flat(table(x).cross(table(y), 0))),
        ("stretched", |x, y| {
            flat(x.reshape([3, 4, 1]) * y.reshape([3, 1, 4]).exp())
        }),
        ("cross_entropy_with_logits", |x, y| {
            cross_entropy_with_logits(table(x), softmax(table(y), 1))
        }),
    ];
    for (name, function) in smooth {
        for order in [1, 2] {
            derivatives_agree(name, &[12, 12], order, &|inputs| {
                function(inputs[0].clone(), inputs[1].clone())
            });
        }
    }
    let kinked: &[(&str, Pair)] = &[
        ("max_pair", |x, y| x.max_pair(y)),
        ("min_pair", |x, y| x.min_pair(y)),
        ("remainder", |x, y| (x * 3.0).remainder(y + 2.0)),
        ("mask_where", |x, y| {
            flat(table(x).mask_where(mask(), table(y)))
        }),
        ("cat", |x, y| Tensor::cat(vec![x, y], 0)),
        ("stack", |x, y| flat(Tensor::<1>::stack::<2>(vec![x, y], 1))),
        ("slice_assign", |x, y| {
            let part = y.slice(0..4).reshape([2, 2]);
            flat(table(x).slice_assign([0..2, 1..3], part))
        }),
    ];
    for (name, function) in kinked {
        derivatives_agree(name, &[12, 12], 1, &|inputs| {
            function(inputs[0].clone(), inputs[1].clone())
        });
    }
}

#[test]
fn rearrangements_have_right_derivatives() {
    agree(
        2,
        &[
            ("expand", |x| {
                flat(table(x).sin().unsqueeze::<3>().expand([2, 3, 4]))
            }),
            ("flip", |x| flat(table(x).sin().flip([0, 1]))),
            ("permute", |x| flat(table(x).sin().permute([1, 0]))),
            ("movedim", |x| flat(table(x).sin().movedim(0, 1))),
            ("repeat", |x| flat(table(x).sin().repeat(&[2, 3]))),
            ("roll", |x| flat(table(x).sin().roll(&[1, 2], &[0, 1]))),
            ("slice", |x| flat(table(x).sin().slice(s![0..3;2, ..;-2]))),
            ("slice_fill", |x| {
                flat(table(x).sin().slice_fill([1..2, 0..3], 5.0))
            }),
            ("tril", |x| flat(table(x).sin().tril(0))),
            ("triu", |x| flat(table(x).sin().triu(1))),
            ("unfold", |x| flat(table(x).sin().unfold::<3, _>(1, 3, 1))),
            ("mask_fill", |x| flat(table(x).sin().mask_fill(mask(), 3.0))),
            ("mask_select", |x| table(x).sin().mask_select(mask())),
            ("cast", |x| x.sin().cast(burn_tensor::DType::F64)),
        ],
    );
}

#[test]
fn lookups_and_updates_have_right_derivatives() {
    agree(
        2,
        &[
            ("gather", |x| {
                flat(
                    table(x)
                        .sin()
                        .gather(1, ints::<2>([[3, 0], [1, 1], [2, 2]])),
                )
            }),
            ("select", |x| {
                flat(table(x).sin().select(0, ints::<1>([2, 0, 2])))
            }),
            ("take", |x| {
                flat(table(x).sin().take::<2, 3>(1, ints::<2>([[0, 3], [3, 1]])))
            }),
            ("gather_nd", |x| {
                table(x)
                    .sin()
                    .gather_nd::<2, 1>(ints::<2>([[0, 1], [2, 3], [0, 1]]))
            }),
        ],
    );
    // Values that meet what is there, at places of which one repeats.
    for (mode, order) in [
        (IndexingUpdateOp::Assign, 2),
        (IndexingUpdateOp::Add, 2),
        (IndexingUpdateOp::Mul, 2),
        (IndexingUpdateOp::Min, 1),
        (IndexingUpdateOp::Max, 1),
    ] {
        for order in 1..=order {
            derivatives_agree(&format!("scatter {mode:?}"), &[12, 6], order, &|inputs| {
                let (x, values) = (table(inputs[0].clone()), inputs[1].clone().reshape([3, 2]));
                let places = ints::<2>([[3, 0], [1, 1], [2, 0]]);
                flat(x.sin().scatter(1, places, values.sin(), mode))
            });
            derivatives_agree(
                &format!("select_assign {mode:?}"),
                &[12, 8],
                order,
                &|inputs| {
                    let (x, values) = (table(inputs[0].clone()), inputs[1].clone().reshape([2, 4]));
                    flat(
                        x.sin()
                            .select_assign(0, ints::<1>([2, 0]), values.sin(), mode),
                    )
                },
            );
            derivatives_agree(
                &format!("scatter_nd {mode:?}"),
                &[12, 3],
                order,
                &|inputs| {
                    let places = ints::<2>([[0, 1], [2, 3], [0, 2]]);
                    let x = table(inputs[0].clone()).sin();
                    flat(x.scatter_nd::<2, 1>(places, inputs[1].clone().sin(), mode))
                },
            );
        }
    }
}

#[test]
fn layers_have_right_derivatives_of_second_order() {
    derivatives_agree("conv1d", &[20, 12, 2], 2, &|inputs| {
        let (x, weight) = (inputs[0].clone().sin(), inputs[1].clone().sin());
        let options = ConvOptions::new([2], [1], [1], 1);
        let bias = Some(inputs[2].clone());
        flat(conv1d(
            x.reshape([1, 2, 10]),
            weight.reshape([2, 2, 3]),
            bias,
            options,
        ))
    });
    derivatives_agree("conv_transpose2d", &[16, 16], 2, &|inputs| {
        let (x, weight) = (inputs[0].clone().sin(), inputs[1].clone());
        let options = ConvTransposeOptions::new([2, 1], [1, 0], [1, 0], [1, 1], 1);
        flat(conv_transpose2d(
            x.reshape([1, 2, 2, 4]),
            weight.reshape([2, 2, 2, 2]),
            None,
            options,
        ))
    });
    derivatives_agree("attention", &[12, 8, 8], 2, &|inputs| {
        let [q, k, v] = [0, 1, 2].map(|at| inputs[at].clone());
        let options = AttentionModuleOptions {
            is_causal: true,
            softcap: Some(1.5),
            ..Default::default()
        };
        let (q, k) = (q.reshape([1, 2, 3, 2]), k.reshape([1, 1, 4, 2]));
        flat(attention(
            q,
            k,
            v.reshape([1, 1, 4, 2]),
            None,
            None,
            options,
        ))
    });
    derivatives_agree("layer_norm", &[12, 4, 4], 2, &|inputs| {
        let [x, gamma, beta] = [0, 1, 2].map(|at| inputs[at].clone());
        flat(layer_norm(table(x), gamma, Some(beta), 1e-2))
    });
    derivatives_agree("batch_norm", &[24, 3, 3], 2, &|inputs| {
        let [x, gamma, beta] = [0, 1, 2].map(|at| inputs[at].clone());
        flat(batch_norm_train(x.reshape([2, 3, 4]), gamma, beta, 1e-2).output)
    });
    derivatives_agree("unfold and fold", &[32], 2, &|inputs| {
        let options = || UnfoldOptions::new([1, 2], [1, 0], [1, 1]);
        let columns = unfold4d(inputs[0].clone().reshape([1, 2, 4, 4]), [2, 2], options());
        flat(fold4d(columns.square(), [4, 4], [2, 2], options()))
    });
}
