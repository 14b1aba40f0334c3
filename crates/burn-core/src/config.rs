//! Configurations: values that describe how to build something, kept as JSON.
//!
//! `#[derive(Config)]` writes the constructor and the setters; this is what all of them share.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Debug};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use burn_derive::Config;

/// Something with defaults that is saved and loaded as JSON; made by `#[derive(Config)]`.
///
/// # Examples
/// ```
/// use burn_core::config::Config;
///
/// #[derive(Config, Debug)]
/// struct NetConfig {
///     width: usize,
///     #[config(default = 2)]
///     depth: usize,
///     dropout: Option<f64>,
/// }
///
/// let config = NetConfig::new(64).with_depth(3);
/// let json = config.to_string();
/// let loaded = NetConfig::load_binary(json.as_bytes()).unwrap();
/// assert_eq!((loaded.width, loaded.depth, loaded.dropout), (64, 3, None));
/// ```
///
/// A misspelt attribute does not compile:
/// ```compile_fail
/// # use burn_core::config::Config;
/// #[derive(Config, Debug)]
/// struct NetConfig {
///     #[config(defalt = 2)]
///     depth: usize,
/// }
/// ```
///
/// Neither does a field without a name:
/// ```compile_fail
/// # use burn_core::config::Config;
/// #[derive(Config, Debug)]
/// struct NetConfig(usize);
/// ```
pub trait Config: Debug + Serialize + DeserializeOwned {
    /// Writes the configuration to `file` as JSON, replacing what is there.
    ///
    /// # Errors
    /// Those of the file system, naming the file.
    #[cfg(feature = "std")]
    fn save<P: AsRef<std::path::Path>>(&self, file: P) -> std::io::Result<()> {
        let file = file.as_ref();
        std::fs::write(file, config_to_json(self)).map_err(|error| {
            std::io::Error::new(error.kind(), format!("{}: {error}", file.display()))
        })
    }

    /// Reads a configuration from the JSON in `file`.
    ///
    /// # Errors
    /// [`ConfigError`], naming the file, and the field if one is to blame.
    #[cfg(feature = "std")]
    fn load<P: AsRef<std::path::Path>>(file: P) -> Result<Self, ConfigError> {
        let file = file.as_ref().display();
        let text = std::fs::read(file.to_string()).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ConfigError::FileNotFound(file.to_string()),
            _ => ConfigError::FileNotFound(format!("{file}: {error}")),
        })?;
        parse(&text).map_err(|problem| ConfigError::InvalidFormat(format!("{file}: {problem}")))
    }

    /// Reads a configuration from JSON.
    ///
    /// # Errors
    /// [`ConfigError::InvalidFormat`], naming the field if one is to blame.
    fn load_binary(data: &[u8]) -> Result<Self, ConfigError> {
        parse(data).map_err(ConfigError::InvalidFormat)
    }
}

/// The configuration as indented JSON.
pub fn config_to_json<C: Config>(config: &C) -> String {
    serde_json::to_string_pretty(config).expect("the fields of a configuration have JSON forms")
}

/// Why a configuration could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The text is not JSON, or not of this configuration.
    InvalidFormat(String),
    /// The file does not exist or cannot be read.
    FileNotFound(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidFormat(problem) => write!(f, "invalid configuration: {problem}"),
            Self::FileNotFound(file) => write!(f, "cannot read the configuration file: {file}"),
        }
    }
}

impl core::error::Error for ConfigError {}

fn parse<C: DeserializeOwned>(json: &[u8]) -> Result<C, String> {
    serde_json::from_slice(json).map_err(|error| {
        // A missing field is named by the error; a value of the wrong type only by its place.
        match error.is_data() && !error.to_string().contains("field") {
            true => match key_before(json, error.line(), error.column()) {
                Some(key) => format!("field `{key}`: {error}"),
                None => error.to_string(),
            },
            false => error.to_string(),
        }
    })
}

/// The last object key in `json` that ends before a place counted from 1.
fn key_before(json: &[u8], line: usize, column: usize) -> Option<&str> {
    let text = core::str::from_utf8(json).ok()?;
    let start: usize = text
        .split_inclusive('\n')
        .take(line.checked_sub(1)?)
        .map(str::len)
        .sum();
    let before = text.get(..start + column)?;
    let key_end = before.rfind("\":")?;
    let key_start = before[..key_end].rfind('"')? + 1;
    Some(&before[key_start..key_end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Config, Debug, PartialEq)]
    enum Act {
        Relu,
        Leaky(f64),
        Glu { dim: usize, gain: f32 },
    }

    #[derive(Config, Debug, PartialEq)]
    struct NetConfig {
        #[config(default = 3)]
        depth: usize,
        width: usize,
        #[config(default = "Act::Leaky(0.5)")]
        act: Act,
        rate: Option<f64>,
        #[config(default = "Some(4)")]
        heads: Option<usize>,
        #[config(default = "\"net\".into()")]
        name: String,
    }

    #[derive(Config, Debug, PartialEq)]
    struct EmptyConfig;

    #[test]
    fn json_lists_required_fields_then_optional_ones_then_defaults() {
        let config = NetConfig::new(8).with_rate(Some(0.5));
        assert_eq!(
            config.to_string(),
            r#"{
  "width": 8,
  "rate": 0.5,
  "depth": 3,
  "act": {
    "Leaky": 0.5
  },
  "heads": 4,
  "name": "net"
}"#
        );
        assert_eq!(EmptyConfig::new().to_string(), "{}");
        assert_eq!(Act::Relu.to_string(), "\"Relu\"");
    }

    #[test]
    fn a_configuration_survives_its_json() {
        let config = NetConfig::new(8)
            .with_act(Act::Glu { dim: 1, gain: 0.1 })
            .with_heads(None);
        let loaded = NetConfig::load_binary(config.to_string().as_bytes());
        assert_eq!(loaded, Ok(config));
        assert_eq!(EmptyConfig::load_binary(b"{}"), Ok(EmptyConfig));
    }

    #[test]
    fn an_error_names_the_field() {
        let missing = NetConfig::load_binary(br#"{"width": 1}"#).expect_err("fields are missing");
        assert!(
            missing.to_string().contains("missing field `depth`"),
            "{missing}"
        );

        let json = "{\n  \"width\": 1,\n  \"depth\": \"three\"\n}";
        let wrong = NetConfig::load_binary(json.as_bytes()).expect_err("`depth` is a number");
        assert!(
            wrong.to_string().contains("field `depth`: invalid type"),
            "{wrong}"
        );
    }

    #[cfg(feature = "std")]
    #[test]
    fn a_file_error_names_the_file() {
        let folder = tempfile::tempdir().expect("the system has a temporary folder");
        let file = folder.path().join("net.json");
        let missing = NetConfig::load(&file);
        assert_eq!(
            missing,
            Err(ConfigError::FileNotFound(file.display().to_string()))
        );

        let config = NetConfig::new(8);
        config.save(&file).expect("the folder can be written");
        assert_eq!(NetConfig::load(&file), Ok(config));

        std::fs::write(&file, "{").expect("the folder can be written");
        let broken = NetConfig::load(&file)
            .expect_err("the file is no JSON")
            .to_string();
        assert!(broken.contains("net.json"), "{broken}");

        let nowhere = folder.path().join("no/net.json");
        let error = NetConfig::new(8)
            .save(nowhere)
            .expect_err("the folder does not exist");
        assert!(error.to_string().contains("net.json"), "{error}");
    }
}
