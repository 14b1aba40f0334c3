//! How modules print: a tree of names and values, one module in braces.
//!
//! A module gives its [`Content`]; the layout is decided here, by [`DisplaySettings`].

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{Debug, Display, Write};

/// What every module prints if it has no wish of its own; written by `#[derive(Module)]`.
pub trait ModuleDisplayDefault {
    /// The fields of the module, added to `content`.
    fn content(&self, content: Content) -> Option<Content>;

    /// The number printed as `params`; 0 prints nothing.
    fn num_params(&self) -> usize {
        0
    }
}

/// How a module prints. Implement it, with `#[module(custom_display)]`, to print something else
/// than the fields.
pub trait ModuleDisplay: ModuleDisplayDefault {
    /// The module as text.
    fn format(&self, passed_settings: DisplaySettings) -> String {
        let settings = match self.custom_settings() {
            Some(custom) => custom.inherit(passed_settings),
            None => passed_settings,
        };
        let empty = || Content::new(settings.clone());
        let default = self.content(empty());
        let custom = match settings.show_all_attributes() {
            true => None,
            false => self
                .custom_content(empty())
                .filter(|content| !content.is_empty()),
        };
        let (content, type_name) = match (custom, default) {
            (Some(mut custom), default) => {
                let type_name = default.and_then(|default| default.top_level_type);
                let type_name = custom.top_level_type.take().or(type_name);
                (custom, type_name)
            }
            (None, Some(mut default)) => {
                let type_name = default.top_level_type.take();
                (default, type_name)
            }
            (None, None) => return String::new(),
        };
        content.lay_out(type_name.unwrap_or_default(), self.num_params())
    }

    /// Settings of this module, used where the caller sets nothing.
    fn custom_settings(&self) -> Option<DisplaySettings> {
        None
    }

    /// What to print instead of the fields; nothing added means the fields.
    fn custom_content(&self, _content: Content) -> Option<Content> {
        None
    }
}

/// The layout of a printed module. What is not set has a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplaySettings {
    show_param_id: Option<bool>,
    show_all_attributes: Option<bool>,
    show_num_parameters: Option<bool>,
    new_line_after_attribute: Option<bool>,
    indentation_size: Option<usize>,
    /// How deep the module lies; its attributes are indented that many times.
    level: usize,
}

impl Default for DisplaySettings {
    fn default() -> Self {
        Self::new()
    }
}

impl DisplaySettings {
    /// Settings of a module that lies in no other, with nothing set.
    pub fn new() -> Self {
        Self {
            show_param_id: None,
            show_all_attributes: None,
            show_num_parameters: None,
            new_line_after_attribute: None,
            indentation_size: None,
            level: 1,
        }
    }

    /// Prints the id of each parameter (default: no).
    pub fn with_show_param_id(mut self, flag: bool) -> Self {
        self.show_param_id = Some(flag);
        self
    }

    /// Prints the fields even of modules with content of their own (default: no).
    pub fn with_show_all_attributes(mut self, flag: bool) -> Self {
        self.show_all_attributes = Some(flag);
        self
    }

    /// Prints the number of parameters of each module (default: yes).
    pub fn with_show_num_parameters(mut self, flag: bool) -> Self {
        self.show_num_parameters = Some(flag);
        self
    }

    /// Gives each attribute a line (default: yes).
    pub fn with_new_line_after_attribute(mut self, flag: bool) -> Self {
        self.new_line_after_attribute = Some(flag);
        self
    }

    /// Indents each level by `size` spaces (default: 2).
    pub fn with_indentation_size(mut self, size: usize) -> Self {
        self.indentation_size = Some(size);
        self
    }

    /// These settings, overruled by what `top` sets, at the level of `top`.
    pub fn inherit(self, top: Self) -> Self {
        Self {
            show_param_id: top.show_param_id.or(self.show_param_id),
            show_all_attributes: top.show_all_attributes.or(self.show_all_attributes),
            show_num_parameters: top.show_num_parameters.or(self.show_num_parameters),
            new_line_after_attribute: top
                .new_line_after_attribute
                .or(self.new_line_after_attribute),
            indentation_size: top.indentation_size.or(self.indentation_size),
            level: top.level,
        }
    }

    /// Whether the ids of parameters are printed.
    pub fn show_param_id(&self) -> bool {
        self.show_param_id.unwrap_or(false)
    }

    /// Whether fields are printed even where a module has content of its own.
    pub fn show_all_attributes(&self) -> bool {
        self.show_all_attributes.unwrap_or(false)
    }

    /// Whether the number of parameters is printed.
    pub fn show_num_parameters(&self) -> bool {
        self.show_num_parameters.unwrap_or(true)
    }

    /// Whether each attribute has a line.
    pub fn new_line_after_attribute(&self) -> bool {
        self.new_line_after_attribute.unwrap_or(true)
    }

    /// Spaces by which a level is indented.
    pub fn indentation_size(&self) -> usize {
        self.indentation_size.unwrap_or(2)
    }

    /// The settings for a module inside.
    pub fn level_up(mut self) -> Self {
        self.level += 1;
        self
    }

    /// The settings, as [`ModuleDisplay::custom_settings`] returns them.
    pub fn optional(self) -> Option<Self> {
        Some(self)
    }
}

/// A name with its printed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name of the field.
    pub name: String,
    /// The value as text.
    pub value: String,
    /// Rust type of the value.
    pub ty: String,
}

/// What a module prints: attributes, or a single text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The attributes in order.
    pub attributes: Vec<Attribute>,
    /// A text that stands for the whole module.
    pub single_item: Option<String>,
    /// The layout.
    pub display_settings: DisplaySettings,
    /// The name before the brace.
    pub top_level_type: Option<String>,
}

impl Content {
    /// Nothing yet.
    pub fn new(display_settings: DisplaySettings) -> Self {
        Self {
            attributes: Vec::new(),
            single_item: None,
            display_settings,
            top_level_type: None,
        }
    }

    /// Sets the name before the brace.
    pub fn set_top_level_type(mut self, ty: &str) -> Self {
        self.top_level_type = Some(ty.to_string());
        self
    }

    /// Adds a module as an attribute.
    ///
    /// # Panics
    /// If a single item is set.
    pub fn add<T: ModuleDisplay + ?Sized>(self, name: &str, module: &T) -> Self {
        let value = module.format(self.display_settings.clone().level_up());
        self.add_attribute(name, value, core::any::type_name::<T>())
    }

    /// Adds a value as an attribute, as `Debug` prints it.
    ///
    /// # Panics
    /// If a single item is set.
    pub fn add_debug_attribute<T: Debug>(self, name: &str, value: &T) -> Self {
        self.add_attribute(name, format!("{value:?}"), core::any::type_name::<T>())
    }

    /// Lets a module stand for the whole.
    ///
    /// # Panics
    /// If there are attributes.
    pub fn add_single<T: ModuleDisplay + ?Sized>(self, module: &T) -> Self {
        let text = module.format(self.display_settings.clone());
        self.set_single(text)
    }

    /// Lets a text stand for the whole.
    ///
    /// # Panics
    /// If there are attributes.
    pub fn add_formatted<T: Display>(self, value: &T) -> Self {
        self.set_single(value.to_string())
    }

    /// The content, as [`ModuleDisplay::custom_content`] returns it.
    pub fn optional(self) -> Option<Self> {
        Some(self)
    }

    fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.single_item.is_none()
    }

    fn add_attribute(mut self, name: &str, value: String, ty: &str) -> Self {
        assert!(
            self.single_item.is_none(),
            "attribute `{name}` added to a module that prints as a single item"
        );
        self.attributes.push(Attribute {
            name: name.to_string(),
            value,
            ty: ty.to_string(),
        });
        self
    }

    fn set_single(mut self, text: String) -> Self {
        assert!(
            self.attributes.is_empty(),
            "a single item cannot be added to a module that prints attributes"
        );
        self.single_item = Some(text);
        self
    }

    fn lay_out(self, type_name: String, num_params: usize) -> String {
        let settings = self.display_settings;
        if let Some(text) = self.single_item {
            return text;
        }
        let mut text = type_name;
        if self.attributes.is_empty() {
            return text;
        }
        let mut lines: Vec<String> = self
            .attributes
            .into_iter()
            .map(|Attribute { name, value, .. }| format!("{name}: {value}"))
            .collect();
        if settings.show_num_parameters() && num_params > 0 {
            lines.push(format!("params: {num_params}"));
        }
        let separate = settings.new_line_after_attribute();
        let indentation = |level| " ".repeat(settings.indentation_size() * level);
        let written = match separate {
            true => {
                let (inner, outer) = (indentation(settings.level), indentation(settings.level - 1));
                let lines = lines.join(&format!("\n{inner}"));
                write!(text, " {{\n{inner}{lines}\n{outer}}}")
            }
            false => write!(text, " {{{}}}", lines.join(", ")),
        };
        written.expect("writing to a string does not fail");
        text
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::string::String;
    use alloc::vec::Vec;

    use crate::module::{Content, DisplaySettings, Flag, Module, ModuleDisplay, Param};

    #[derive(Module, Debug)]
    struct Unit;

    #[derive(Module, Debug)]
    enum Act {
        Unit(Unit),
        Pair { first: Unit, second: Option<Unit> },
        None,
    }

    #[derive(Module, Debug)]
    #[module(custom_display)]
    struct Custom {
        width: usize,
        hidden: usize,
    }

    impl ModuleDisplay for Custom {
        fn custom_settings(&self) -> Option<DisplaySettings> {
            DisplaySettings::new()
                .with_new_line_after_attribute(false)
                .optional()
        }

        fn custom_content(&self, content: Content) -> Option<Content> {
            content
                .add("width", &self.width)
                .add("double", &(2 * self.width))
                .optional()
        }
    }

    #[derive(Module, Debug)]
    struct Net<M: Module> {
        custom: Custom,
        list: Vec<M>,
        array: [Act; 2],
        pair: (Unit, Box<Act>),
        none: Option<Custom>,
        some: Option<usize>,
        name: String,
        #[module(skip)]
        state: Result<u8, ()>,
        dropout: Param<Flag>,
    }

    fn net() -> Net<Act> {
        Net {
            custom: Custom {
                width: 2,
                hidden: 3,
            },
            list: Vec::new(),
            array: [
                Act::Unit(Unit),
                Act::Pair {
                    first: Unit,
                    second: None,
                },
            ],
            pair: (Unit, Box::new(Act::None)),
            none: None,
            some: Some(4),
            name: "net".into(),
            state: Ok(5),
            dropout: Param::from_bool(true),
        }
    }

    #[test]
    fn a_module_prints_as_a_tree() {
        let expected = r#"Net {
  custom: Custom {width: 2, double: 4}
  list: Vec<0..0>
  array: [0..2] {
    0: Unit {
      _0: Unit
    }
    1: Pair {
      first: Unit
      second: None
    }
  }
  pair: (L0, L1) {
    0: Unit
    1: None
  }
  none: None
  some: Some(4)
  name: "net"
  state: Ok(5)
  dropout: enabled
}"#;
        assert_eq!(alloc::format!("{}", net()), expected);
    }

    #[test]
    fn settings_of_the_caller_overrule_those_of_the_module() {
        let custom = Custom {
            width: 2,
            hidden: 3,
        };
        let all = DisplaySettings::new().with_show_all_attributes(true);
        assert_eq!(custom.format(all), "Custom {width: 2, hidden: 3}");
        let wide = DisplaySettings::new().with_new_line_after_attribute(true);
        assert_eq!(
            custom.format(wide.with_indentation_size(4)),
            "Custom {\n    width: 2\n    double: 4\n}"
        );
    }

    #[test]
    #[should_panic(expected = "attribute `a` added to a module that prints as a single item")]
    fn a_single_item_stands_alone() {
        let _ = Content::new(DisplaySettings::new())
            .add_formatted(&1)
            .add("a", &2usize);
    }
}
