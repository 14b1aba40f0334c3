//! A row of a record batch as an item.

use core::fmt::{self, Display};

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, FieldRef, TimeUnit};
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserializer, forward_to_deserialize_any};

/// What is wrong with a row, with the path of the column.
#[derive(Debug)]
pub(super) struct Error {
    column: String,
    problem: String,
}

impl Error {
    /// The reader's panic.
    pub fn damaged() -> Self {
        de::Error::custom("it is damaged")
    }

    fn within(mut self, name: &str) -> Self {
        self.column = match self.column.is_empty() {
            true => name.to_owned(),
            false => format!("{name}.{}", self.column),
        };
        self
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column.is_empty() {
            true => f.write_str(&self.problem),
            false => write!(f, "column `{}`: {}", self.column, self.problem),
        }
    }
}

impl core::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Self {
            column: String::new(),
            problem: message.to_string(),
        }
    }
}

type Result<T> = core::result::Result<T, Error>;

/// Makes an item of a row.
pub(super) fn read<I: DeserializeOwned>(batch: &RecordBatch, row: usize) -> Result<I> {
    let schema = batch.schema_ref();
    I::deserialize(Fields {
        names: schema.fields().iter(),
        columns: batch.columns().iter(),
        current: None,
        row,
    })
}

/// The columns of a batch, or those of a struct, at one row.
struct Fields<'a> {
    names: core::slice::Iter<'a, FieldRef>,
    columns: core::slice::Iter<'a, ArrayRef>,
    current: Option<(&'a str, &'a ArrayRef)>,
    row: usize,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let (Some(field), Some(column)) = (self.names.next(), self.columns.next()) else {
            return Ok(None);
        };
        self.current = Some((field.name(), column));
        let name: StrDeserializer<'_, Error> = field.name().as_str().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let current = self.current.take();
        let (name, array) = current
            .ok_or_else(|| <Error as de::Error>::custom("a value was asked for before its key"))?;
        let cell = Cell {
            array,
            row: self.row,
        };
        seed.deserialize(cell).map_err(|error| error.within(name))
    }
}

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The values of an array, one after the other: those of a list.
struct Values {
    array: ArrayRef,
    row: usize,
}

impl<'de> SeqAccess<'de> for Values {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let row = self.row;
        if row == self.array.len() {
            return Ok(None);
        }
        self.row += 1;
        let cell = Cell {
            array: &self.array,
            row,
        };
        let value = seed
            .deserialize(cell)
            .map_err(|error| error.within(&row.to_string()));
        value.map(Some)
    }
}

/// One value.
struct Cell<'a> {
    array: &'a dyn Array,
    row: usize,
}

/// Passes the value of an array of one of these types to the visitor.
macro_rules! primitive {
    ($self:ident, $visitor:ident, $($pattern:pat => $type:ty, $visit:ident),* $(,)?) => {
        match $self.array.data_type() {
            $($pattern => return $visitor.$visit($self.array.as_primitive::<$type>().value($self.row).into()),)*
            _ => {}
        }
    };
}

/// The place of a dictionary's value, from keys of one of these types.
macro_rules! key {
    ($self:ident, $kind:ident, $($variant:ident => $type:ty),* $(,)?) => {
        match $kind {
            $(DataType::$variant => {
                let dictionary = $self.array.as_dictionary::<$type>();
                (dictionary.values(), dictionary.key($self.row))
            })*
            other => return Err(de::Error::custom(format!("keys of type {other} are not supported"))),
        }
    };
}

impl Cell<'_> {
    fn null(&self) -> bool {
        self.array.data_type() == &DataType::Null || self.array.is_null(self.row)
    }

    fn bytes<T>(&self, take: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let row = self.row;
        Some(take(match self.array.data_type() {
            DataType::Binary => self.array.as_binary::<i32>().value(row),
            DataType::LargeBinary => self.array.as_binary::<i64>().value(row),
            DataType::BinaryView => self.array.as_binary_view().value(row),
            DataType::FixedSizeBinary(_) => self.array.as_fixed_size_binary().value(row),
            _ => return None,
        }))
    }

    fn list(&self) -> Option<ArrayRef> {
        let row = self.row;
        Some(match self.array.data_type() {
            DataType::List(_) => self.array.as_list::<i32>().value(row),
            DataType::LargeList(_) => self.array.as_list::<i64>().value(row),
            DataType::FixedSizeList(..) => self.array.as_fixed_size_list().value(row),
            _ => return None,
        })
    }

    fn number<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value> {
        use DataType as D;
        primitive!(self, visitor,
            D::Int8 => Int8Type, visit_i64,
            D::Int16 => Int16Type, visit_i64,
            D::Int32 => Int32Type, visit_i64,
            D::Int64 => Int64Type, visit_i64,
            D::UInt8 => UInt8Type, visit_u64,
            D::UInt16 => UInt16Type, visit_u64,
            D::UInt32 => UInt32Type, visit_u64,
            D::UInt64 => UInt64Type, visit_u64,
            D::Float16 => Float16Type, visit_f64,
            D::Float32 => Float32Type, visit_f64,
            D::Float64 => Float64Type, visit_f64,
            D::Date32 => Date32Type, visit_i64,
            D::Date64 => Date64Type, visit_i64,
            D::Timestamp(TimeUnit::Second, _) => TimestampSecondType, visit_i64,
            D::Timestamp(TimeUnit::Millisecond, _) => TimestampMillisecondType, visit_i64,
            D::Timestamp(TimeUnit::Microsecond, _) => TimestampMicrosecondType, visit_i64,
            D::Timestamp(TimeUnit::Nanosecond, _) => TimestampNanosecondType, visit_i64,
            D::Time32(TimeUnit::Second) => Time32SecondType, visit_i64,
            D::Time32(TimeUnit::Millisecond) => Time32MillisecondType, visit_i64,
            D::Time64(TimeUnit::Microsecond) => Time64MicrosecondType, visit_i64,
            D::Time64(TimeUnit::Nanosecond) => Time64NanosecondType, visit_i64,
            D::Duration(TimeUnit::Second) => DurationSecondType, visit_i64,
            D::Duration(TimeUnit::Millisecond) => DurationMillisecondType, visit_i64,
            D::Duration(TimeUnit::Microsecond) => DurationMicrosecondType, visit_i64,
            D::Duration(TimeUnit::Nanosecond) => DurationNanosecondType, visit_i64,
        );
        let kind = self.array.data_type();
        Err(de::Error::custom(format!(
            "values of type {kind} are not supported"
        )))
    }

    fn dictionary<'de, V: Visitor<'de>>(&self, kind: &DataType, visitor: V) -> Result<V::Value> {
        let (values, key) = key!(self, kind,
            Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
            UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type,
        );
        match key {
            Some(row) => Cell { array: values, row }.deserialize_any(visitor),
            None => visitor.visit_unit(),
        }
    }
}

impl<'de> Deserializer<'de> for Cell<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let row = self.row;
        if self.null() {
            return visitor.visit_unit();
        }
        match self.array.data_type() {
            DataType::Boolean => visitor.visit_bool(self.array.as_boolean().value(row)),
            DataType::Utf8 => visitor.visit_str(self.array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => visitor.visit_str(self.array.as_string::<i64>().value(row)),
            DataType::Utf8View => visitor.visit_str(self.array.as_string_view().value(row)),
            DataType::Struct(fields) => visitor.visit_map(Fields {
                names: fields.iter(),
                columns: self.array.as_struct().columns().iter(),
                current: None,
                row,
            }),
            DataType::Dictionary(kind, _) => self.dictionary(kind, visitor),
            _ => match self.list() {
                Some(array) => visitor.visit_seq(Values { array, row: 0 }),
                None if self.bytes(|_| ()).is_some() => self.deserialize_bytes(visitor),
                None => self.number(visitor),
            },
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.bytes(<[u8]>::to_vec) {
            Some(bytes) if !self.null() => visitor.visit_byte_buf(bytes),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    /// Bytes are a sequence for those who ask for one.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.bytes(<[u8]>::to_vec) {
            Some(bytes) if !self.null() => {
                visitor.visit_seq(de::value::SeqDeserializer::new(bytes.into_iter()))
            }
            _ => self.deserialize_any(visitor),
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

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.null() {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    /// A variant without content, by its name or its number.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = core::result::Result<String, u32>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name or the number of a variant")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> core::result::Result<Self::Value, E> {
                Ok(Ok(name.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> core::result::Result<Self::Value, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Signed(number), &self);
                u32::try_from(number).map(Err).map_err(wrong)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> core::result::Result<Self::Value, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Unsigned(number), &self);
                u32::try_from(number).map(Err).map_err(wrong)
            }
        }
        match self.deserialize_any(Name)? {
            Ok(name) => visitor.visit_enum(name.into_deserializer()),
            Err(number) => visitor.visit_enum(number.into_deserializer()),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct map struct identifier
        ignored_any
    }
}
