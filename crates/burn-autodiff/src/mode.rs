//! What a layer does besides taking gradients.

/// What a tape keeps of the values that rules ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GradientCheckpointingStrategy {
    /// Every value that is cheap to compute again is computed again when its gradient is taken, and so are two of three
    /// in a chain of matrix products or convolutions. What depends on random numbers is made of values that are kept.
    Balanced,
    /// Every value is kept.
    #[default]
    Disabled,
}

/// How a layer keeps values and watches them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    /// What the tape keeps.
    pub checkpointing: GradientCheckpointingStrategy,
    /// Whether every value is read, to name the first operation that made one that is not finite.
    pub anomalies: bool,
}

impl Mode {
    /// Every mode, so that each is at its own index.
    pub(crate) const ALL: [Self; 4] = [
        Self::of(GradientCheckpointingStrategy::Disabled, false),
        Self::of(GradientCheckpointingStrategy::Balanced, false),
        Self::of(GradientCheckpointingStrategy::Disabled, true),
        Self::of(GradientCheckpointingStrategy::Balanced, true),
    ];

    const fn of(checkpointing: GradientCheckpointingStrategy, anomalies: bool) -> Self {
        Self {
            checkpointing,
            anomalies,
        }
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.recomputes()) | usize::from(self.anomalies) << 1
    }

    pub(crate) fn recomputes(self) -> bool {
        self.checkpointing == GradientCheckpointingStrategy::Balanced
    }

    /// The mode of what is made of tensors of two modes: both are asked for.
    pub(crate) fn join(self, other: Self) -> Self {
        Self::ALL[self.index() | other.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_at_its_own_index() {
        for (at, mode) in Mode::ALL.into_iter().enumerate() {
            assert_eq!(mode.index(), at);
        }
    }
}
