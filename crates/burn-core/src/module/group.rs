//! Groups of parameters, chosen by id or by path. Regular expressions are not built in.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt;

use burn_tensor::{Bool, Int, Tensor};

use super::{Flag, Module, ModuleVisitor, Param, ParamId};

/// A set of parameters.
#[derive(Clone, Debug)]
pub struct ParamGroup(Rule);

#[derive(Clone, Debug)]
enum Rule {
    All,
    Ids(Vec<ParamId>),
    /// One of these paths.
    Paths(Vec<String>),
    /// Each of these texts is part of the path.
    Parts(Vec<String>),
    Either(Vec<Rule>),
    Except(Box<Rule>, Box<Rule>),
}

impl ParamGroup {
    /// Every parameter.
    pub fn all() -> Self {
        Self(Rule::All)
    }

    /// The parameters with these ids.
    pub fn from_ids(ids: Vec<ParamId>) -> Self {
        Self(Rule::Ids(ids))
    }

    /// The parameters of `module`.
    pub fn ids_from_module<M: Module>(module: M) -> Self {
        let mut ids = Ids(Vec::new());
        module.visit(&mut ids);
        Self::from_ids(ids.0)
    }

    /// The parameter at `path`, such as `encoder.0.weight`.
    pub fn from_path(path: impl Into<String>) -> Self {
        Self(Rule::Paths(vec![path.into()]))
    }

    /// The parameters at `paths`.
    pub fn from_paths(paths: Vec<impl Into<String>>) -> Self {
        Self(Rule::Paths(paths.into_iter().map(Into::into).collect()))
    }

    /// The parameters whose path contains `part`.
    pub fn from_predicate(part: impl Into<String>) -> Self {
        Self(Rule::Parts(vec![part.into()]))
    }

    /// The parameters whose path contains every one of `parts`.
    pub fn from_predicates(parts: Vec<impl Into<String>>) -> Self {
        Self(Rule::Parts(parts.into_iter().map(Into::into).collect()))
    }

    /// The parameters whose path contains at least one of `parts`.
    pub fn from_any_predicates(parts: Vec<impl Into<String>>) -> Self {
        Self(Rule::Either(
            parts
                .into_iter()
                .map(|part| Rule::Parts(vec![part.into()]))
                .collect(),
        ))
    }

    /// Not built in.
    ///
    /// # Errors
    /// Always, naming what to use instead.
    pub fn from_regex<S: AsRef<str>>(pattern: S) -> Result<Self, ParamGroupError> {
        Self::from_regexes(vec![pattern])
    }

    /// Not built in.
    ///
    /// # Errors
    /// Always, naming what to use instead.
    pub fn from_regexes<S: AsRef<str>>(patterns: Vec<S>) -> Result<Self, ParamGroupError> {
        let patterns: Vec<&str> = patterns.iter().map(AsRef::as_ref).collect();
        Err(ParamGroupError::InvalidPatternError(format!(
            "regular expressions are not built in: use `from_predicates` in place of {patterns:?}"
        )))
    }

    /// Not built in.
    ///
    /// # Errors
    /// Always, naming what to use instead.
    pub fn from_any_regexes<S: AsRef<str>>(patterns: Vec<S>) -> Result<Self, ParamGroupError> {
        Self::from_regexes(patterns)
    }

    /// The parameters of this group or of `other`.
    pub fn fuse(self, other: &Self) -> Self {
        Self(Rule::Either(vec![self.0, other.0.clone()]))
    }

    /// The parameters of this group that are not in `other`.
    pub fn exclude(self, other: Self) -> Self {
        Self(Rule::Except(Box::new(self.0), Box::new(other.0)))
    }

    /// Whether the parameter `id` at `path` is in the group.
    pub fn matches(&self, id: &ParamId, path: Option<&str>) -> bool {
        self.0.matches(id, path)
    }
}

impl Rule {
    fn matches(&self, id: &ParamId, path: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Ids(ids) => ids.contains(id),
            Self::Paths(paths) => path.is_some_and(|path| paths.iter().any(|one| one == path)),
            Self::Parts(parts) => {
                path.is_some_and(|path| parts.iter().all(|part| path.contains(part)))
            }
            Self::Either(rules) => rules.iter().any(|rule| rule.matches(id, path)),
            Self::Except(rule, except) => rule.matches(id, path) && !except.matches(id, path),
        }
    }
}

/// Why a group could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamGroupError {
    /// The pattern cannot be used.
    InvalidPatternError(String),
}

impl fmt::Display for ParamGroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidPatternError(problem) => write!(f, "invalid pattern: {problem}"),
        }
    }
}

impl core::error::Error for ParamGroupError {}

struct Ids(Vec<ParamId>);

impl ModuleVisitor for Ids {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.push(param.id);
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        self.0.push(param.id);
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        self.0.push(param.id);
    }

    fn visit_flag(&mut self, param: &Param<Flag>) {
        self.0.push(param.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_matches(group: &ParamGroup, expected: &[&str]) {
        let paths = ["fc1.weight", "fc1.bias", "fc2.weight"];
        let id = ParamId::from(1);
        let found: Vec<&str> = paths
            .into_iter()
            .filter(|path| group.matches(&id, Some(path)))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_predicate_is_a_part_of_the_path() {
        assert_matches(
            &ParamGroup::from_predicate("weight"),
            &["fc1.weight", "fc2.weight"],
        );
        assert_matches(
            &ParamGroup::from_predicates(vec!["fc1", "weight"]),
            &["fc1.weight"],
        );
        assert_matches(
            &ParamGroup::from_any_predicates(vec!["fc2", "bias"]),
            &["fc1.bias", "fc2.weight"],
        );
    }

    #[test]
    fn groups_are_added_and_subtracted() {
        let weights = ParamGroup::from_predicate("weight");
        assert_matches(&ParamGroup::all().exclude(weights.clone()), &["fc1.bias"]);
        let first = ParamGroup::from_path("fc1.bias");
        assert_matches(
            &first.fuse(&weights),
            &["fc1.weight", "fc1.bias", "fc2.weight"],
        );
    }

    #[test]
    fn an_id_needs_no_path() {
        let group = ParamGroup::from_ids(vec![ParamId::from(1)]);
        assert!(group.matches(&ParamId::from(1), None));
        assert!(!group.matches(&ParamId::from(2), None));
        assert!(!ParamGroup::from_predicate("fc").matches(&ParamId::from(1), None));
    }

    #[test]
    fn a_regular_expression_is_refused_with_advice() {
        let error = ParamGroup::from_regex("^fc").expect_err("they are not built in");
        assert!(error.to_string().contains("from_predicates"), "{error}");
    }
}
