//! Groups of parameters, chosen by id or by path.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt;

use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use burn_tensor::{Bool, Int, Tensor};

use super::reparam::Erased;
use super::{Flag, Module, ModuleVisitor, Param, ParamId};

/// A set of parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ParamGroup {
    matcher: Matcher,
    excludes: Option<Matcher>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Matcher {
    All,
    /// The parameters with these ids.
    Explicit(Vec<ParamId>),
    Path(PathMatcher),
    /// What one of these holds.
    Combined(Vec<Matcher>),
    /// A group that others were taken out of.
    Group(Box<ParamGroup>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum PathMatcher {
    /// One of these paths.
    Exact(Vec<String>),
    /// Each of these texts is part of the path.
    Include(Vec<String>),
    /// Each of these patterns is found in the path.
    Regex(Vec<Pattern>),
}

/// A regular expression, stored as its text.
#[derive(Clone, Debug)]
struct Pattern(Arc<Regex>);

impl Pattern {
    fn new(pattern: &str) -> Result<Self, ParamGroupError> {
        let regex = Regex::new(pattern).map_err(|error| {
            ParamGroupError::InvalidPatternError(format!("{pattern:?}: {error}"))
        })?;
        Ok(Self(Arc::new(regex)))
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl ParamGroup {
    fn new(matcher: Matcher) -> Self {
        Self {
            matcher,
            excludes: None,
        }
    }

    fn of_path(matcher: PathMatcher) -> Self {
        Self::new(Matcher::Path(matcher))
    }

    /// Every parameter.
    pub fn all() -> Self {
        Self::new(Matcher::All)
    }

    /// The parameters with these ids.
    pub fn from_ids(ids: Vec<ParamId>) -> Self {
        Self::new(Matcher::Explicit(ids))
    }

    /// The parameters of `module`.
    pub fn ids_from_module<M: Module>(module: M) -> Self {
        Self::from_ids(Ids::of(&module, true))
    }

    /// The parameter at `path`, such as `encoder.0.weight`.
    pub fn from_path(path: impl Into<String>) -> Self {
        Self::from_paths(vec![path])
    }

    /// The parameters at `paths`.
    pub fn from_paths(paths: Vec<impl Into<String>>) -> Self {
        Self::of_path(PathMatcher::Exact(texts(paths)))
    }

    /// The parameters whose path contains `part`.
    pub fn from_predicate(part: impl Into<String>) -> Self {
        Self::from_predicates(vec![part])
    }

    /// The parameters whose path contains every one of `parts`.
    pub fn from_predicates(parts: Vec<impl Into<String>>) -> Self {
        Self::of_path(PathMatcher::Include(texts(parts)))
    }

    /// The parameters whose path contains at least one of `parts`.
    pub fn from_any_predicates(parts: Vec<impl Into<String>>) -> Self {
        let parts = texts(parts).into_iter();
        let matchers = parts.map(|part| Matcher::Path(PathMatcher::Include(vec![part])));
        Self::new(Matcher::Combined(matchers.collect()))
    }

    /// The parameters in whose path `pattern`, a regular expression, is found.
    ///
    /// # Errors
    /// What is wrong with the pattern.
    pub fn from_regex<S: AsRef<str>>(pattern: S) -> Result<Self, ParamGroupError> {
        Self::from_regexes(vec![pattern])
    }

    /// The parameters in whose path every one of `patterns` is found.
    ///
    /// # Errors
    /// What is wrong with one of the patterns.
    pub fn from_regexes<S: AsRef<str>>(patterns: Vec<S>) -> Result<Self, ParamGroupError> {
        let patterns = patterns.iter().map(|it| Pattern::new(it.as_ref()));
        let patterns = patterns.collect::<Result<_, _>>()?;
        Ok(Self::of_path(PathMatcher::Regex(patterns)))
    }

    /// The parameters in whose path at least one of `patterns` is found.
    ///
    /// # Errors
    /// What is wrong with one of the patterns.
    pub fn from_any_regexes<S: AsRef<str>>(patterns: Vec<S>) -> Result<Self, ParamGroupError> {
        let matchers = patterns.iter().map(|pattern| {
            let pattern = Pattern::new(pattern.as_ref())?;
            Ok(Matcher::Path(PathMatcher::Regex(vec![pattern])))
        });
        Ok(Self::new(Matcher::Combined(
            matchers.collect::<Result<_, _>>()?,
        )))
    }

    /// The parameters of this group or of `other`.
    pub fn fuse(self, other: &Self) -> Self {
        let matchers = vec![self.into_matcher(), other.clone().into_matcher()];
        Self::new(Matcher::Combined(matchers))
    }

    /// The parameters of this group that are not in `other`.
    pub fn exclude(self, other: Self) -> Self {
        let other = other.into_matcher();
        Self {
            matcher: self.matcher,
            excludes: Some(match self.excludes {
                Some(before) => Matcher::Combined(vec![before, other]),
                None => other,
            }),
        }
    }

    fn into_matcher(self) -> Matcher {
        match self.excludes {
            Some(_) => Matcher::Group(Box::new(self)),
            None => self.matcher,
        }
    }

    /// Whether the parameter `id` at `path` is in the group.
    pub fn matches(&self, id: &ParamId, path: Option<&str>) -> bool {
        let excludes = |excludes: &Matcher| excludes.matches(id, path);
        self.matcher.matches(id, path) && !self.excludes.as_ref().is_some_and(excludes)
    }
}

fn texts(texts: Vec<impl Into<String>>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}

impl Matcher {
    fn matches(&self, id: &ParamId, path: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Explicit(ids) => ids.contains(id),
            Self::Path(matcher) => path.is_some_and(|path| matcher.matches(path)),
            Self::Combined(matchers) => matchers.iter().any(|it| it.matches(id, path)),
            Self::Group(group) => group.matches(id, path),
        }
    }
}

impl PathMatcher {
    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Exact(paths) => paths.iter().any(|one| one == path),
            Self::Include(parts) => parts.iter().all(|part| path.contains(part)),
            Self::Regex(patterns) => patterns.iter().all(|it| it.0.is_match(path)),
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

struct Ids {
    found: Vec<ParamId>,
    flags: bool,
}

impl Ids {
    fn of<M: Module>(module: &M, flags: bool) -> Vec<ParamId> {
        let mut ids = Self {
            found: Vec::new(),
            flags,
        };
        module.visit(&mut ids);
        ids.found
    }
}

impl ModuleVisitor for Ids {
    fn visit_erased(&mut self, module: &dyn Erased) {
        module.visit(self);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.found.push(param.id);
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        self.found.push(param.id);
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        self.found.push(param.id);
    }

    fn visit_flag(&mut self, param: &Param<Flag>) {
        if self.flags {
            self.found.push(param.id);
        }
    }
}

/// The parameters of a module that are tensors, in the order of its fields; switches are none.
/// [`ParamGroup::ids_from_module`] has these too.
pub fn list_param_ids<M: Module>(module: &M) -> Vec<ParamId> {
    Ids::of(module, false)
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
    fn a_regular_expression_is_found_in_the_path() {
        let weights = ParamGroup::from_regex("^fc[0-9].w").expect("it is a pattern");
        assert_matches(&weights, &["fc1.weight", "fc2.weight"]);
        let both = ParamGroup::from_regexes(vec!["^fc1", "t$"]).expect("they are patterns");
        assert_matches(&both, &["fc1.weight"]);
        let any = ParamGroup::from_any_regexes(vec!["^fc2", "s$"]).expect("they are patterns");
        assert_matches(&any, &["fc1.bias", "fc2.weight"]);
        let error = ParamGroup::from_any_regexes(vec!["fc", "(fc"]).expect_err("it is not closed");
        assert!(error.to_string().contains("\"(fc\""), "{error}");
    }

    #[test]
    fn a_group_survives_its_json() {
        let group = ParamGroup::from_any_regexes(vec!["bias", "^fc2"])
            .expect("they are patterns")
            .exclude(ParamGroup::from_path("fc2.weight").exclude(ParamGroup::from_ids(vec![])))
            .fuse(&ParamGroup::from_path("fc1.weight"));
        let json = serde_json::to_string(&group).expect("it is text");
        let loaded: ParamGroup = serde_json::from_str(&json).expect("it was just written");
        assert_matches(&group, &["fc1.weight", "fc1.bias"]);
        assert_matches(&loaded, &["fc1.weight", "fc1.bias"]);
        let error = serde_json::from_str::<ParamGroup>(&json.replace("^fc2", "(fc2"));
        assert!(error.is_err());
    }
}
