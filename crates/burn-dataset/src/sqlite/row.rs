//! A row of named columns as an item: columns go to the fields of their names.
//!
//! Numbers and texts are what they are. A blob is bytes or a sequence of them. Whatever else a field holds (sequences,
//! maps, structures) is read from a text of JSON.

use core::fmt::Display;
use std::vec;

use serde::Deserializer;
use serde::de::value::{BytesDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::de::IoRead;
use turso_core::{Numeric, Value};

use super::RowError;

type Result<T> = core::result::Result<T, RowError>;

/// Lends nothing to what it makes, and so may go before it.
type Json<'a> = serde_json::Deserializer<IoRead<&'a [u8]>>;

impl de::Error for RowError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Message(message.to_string())
    }
}

/// Makes an item of a row; `place` says which row it is.
pub(super) fn read<I: DeserializeOwned>(
    columns: &[String],
    row: Vec<Value>,
    place: &dyn Fn() -> String,
) -> Result<I> {
    let row = Row {
        columns: columns.iter(),
        values: row.into_iter(),
        current: None,
    };
    I::deserialize(row).map_err(|error| match error {
        RowError::Column { column, source } => {
            let source = format!("{}: {source}", place()).into();
            RowError::Column { column, source }
        }
        RowError::Message(message) => RowError::Message(format!("{}: {message}", place())),
    })
}

struct Row<'a> {
    columns: core::slice::Iter<'a, String>,
    values: vec::IntoIter<Value>,
    current: Option<(&'a str, Value)>,
}

impl<'de> Deserializer<'de> for Row<'_> {
    type Error = RowError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Row<'_> {
    type Error = RowError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let (Some(column), Some(value)) = (self.columns.next(), self.values.next()) else {
            return Ok(None);
        };
        self.current = Some((column, value));
        seed.deserialize(column.as_str().into_deserializer())
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let (column, value) = self
            .current
            .take()
            .ok_or_else(|| de::Error::custom("a value was asked for before its key"))?;
        seed.deserialize(Cell(value))
            .map_err(|error| RowError::Column {
                column: column.to_owned(),
                source: Box::new(error),
            })
    }
}

/// The value of one column.
struct Cell(Value);

impl Cell {
    /// Reads what has no column type of its own.
    fn json<T>(self, read: impl FnOnce(&mut Json<'_>) -> serde_json::Result<T>) -> Result<T> {
        match &self.0 {
            Value::Text(text) => {
                let mut json = Json::from_reader(text.as_str().as_bytes());
                read(&mut json).map_err(de::Error::custom)
            }
            value => Err(de::Error::custom(format!(
                "a text of JSON is needed, got {}",
                kind(value)
            ))),
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Numeric(Numeric::Integer(_)) => "an integer",
        Value::Numeric(Numeric::Float(_)) => "a float",
        Value::Text(_) => "a text",
        Value::Blob(_) => "a blob",
    }
}

impl<'de> Deserializer<'de> for Cell {
    type Error = RowError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Numeric(Numeric::Integer(value)) => visitor.visit_i64(value),
            Value::Numeric(Numeric::Float(value)) => visitor.visit_f64(value.into()),
            Value::Text(text) => visitor.visit_str(text.as_str()),
            Value::Blob(bytes) => visitor.visit_bytes(&bytes),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            // SQLite has no truth values of its own.
            Value::Numeric(Numeric::Integer(value @ 0..=1)) => visitor.visit_bool(value == 1),
            value => Cell(value).deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Blob(bytes) => visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied())),
            value => Cell(value).json(|json| json.deserialize_seq(visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.json(|json| json.deserialize_map(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.json(|json| json.deserialize_struct(name, fields, visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.0 {
            // A variant by its number, or by its name, or, with content, as JSON writes it.
            Value::Numeric(Numeric::Integer(value))
                if (0..=i64::from(u32::MAX)).contains(&value) =>
            {
                visitor.visit_enum((value as u32).into_deserializer())
            }
            Value::Text(text) if !text.as_str().starts_with(['{', '"']) => {
                visitor.visit_enum(text.as_str().into_deserializer())
            }
            value => Cell(value).json(|json| json.deserialize_enum(name, variants, visitor)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.0 {
            Value::Blob(bytes) => BytesDeserializer::new(bytes).deserialize_any(visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct identifier ignored_any
    }
}
