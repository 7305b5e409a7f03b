//! A TOML table and its values with their place in the text: the step from syntax to typed
//! values, where every error gets its line and its hint.

use crate::constant::{Constant, Evidence, Provenance, Quantity};
use crate::place::{Place, Spelled};
use crate::suggest::nearest;
use crate::{SystemError, SystemProblem};
use tier6_units::Bytes;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The largest count that a file may give anywhere.
pub(crate) const COUNT_MAX: u32 = 1 << 20;

/// A table whose keys are all known.
#[derive(Clone)]
pub(super) struct Table<'a> {
    text: &'a str,
    /// The table as messages call it: `links.nvlink4`.
    name: String,
    place: Place,
    entries: &'a DeTable<'a>,
}

/// A value and the key it belongs to.
#[derive(Clone)]
pub(super) struct Value<'a> {
    text: &'a str,
    key: String,
    spanned: &'a Spanned<DeValue<'a>>,
}

impl<'a> Table<'a> {
    /// Wraps the whole file.
    pub fn of_file(
        text: &'a str,
        entries: &'a DeTable<'a>,
        known: &[&str],
    ) -> Result<Self, SystemError> {
        let table = Self {
            text,
            name: "the file".to_owned(),
            place: Place { line: 1, column: 1 },
            entries,
        };
        table.only(known)?;
        Ok(table)
    }

    /// Refuses keys that no one reads.
    fn only(&self, known: &[&str]) -> Result<(), SystemError> {
        let unknown = |key: &&Spanned<_>| !known.contains(&AsRef::<str>::as_ref(key.get_ref()));
        // The first in the text, not in the alphabet.
        let first = self
            .entries
            .keys()
            .filter(unknown)
            .min_by_key(|key| key.span().start);
        let Some(key) = first else {
            return Ok(());
        };
        let name: &str = key.get_ref().as_ref();
        let problem = SystemProblem::UnknownKey {
            key: name.to_owned(),
            table: self.quoted(),
        };
        let error = SystemError::new(Some(Place::of(self.text, key.span().start)), problem);
        Err(match nearest(name, known.iter().copied()) {
            Some(near) => error.did_you_mean(Some(near)),
            None => error.hint(format!("known keys are {}", known.join(", "))),
        })
    }

    fn quoted(&self) -> String {
        if self.name == "the file" {
            self.name.clone()
        } else {
            format!("`{}`", self.name)
        }
    }

    /// Where the table stands.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        let value = self.entries.get(key)?;
        let prefix = if self.name == "the file" {
            ""
        } else {
            &self.name
        };
        let dot = if prefix.is_empty() { "" } else { "." };
        Some(Value {
            text: self.text,
            key: format!("{prefix}{dot}{key}"),
            spanned: value,
        })
    }

    /// Returns the value of a key that must be there.
    pub fn need(&self, key: &'static str) -> Result<Value<'a>, SystemError> {
        self.get(key).ok_or_else(|| {
            let table = self.quoted();
            SystemError::new(Some(self.place), SystemProblem::MissingKey { key, table })
        })
    }

    /// Reads a value when it is there.
    pub fn optional<T>(
        &self,
        key: &str,
        read: impl FnOnce(Value<'a>) -> Result<T, SystemError>,
    ) -> Result<Option<T>, SystemError> {
        self.get(key).map(read).transpose()
    }

    /// Returns the keys of the table with their places, in the order of the text.
    pub fn keys(&self) -> Vec<Spelled<String>> {
        let mut keys: Vec<_> = self.entries.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        keys.into_iter()
            .map(|key| Spelled {
                value: key.get_ref().to_string(),
                place: Some(Place::of(self.text, key.span().start)),
            })
            .collect()
    }
}

impl<'a> Value<'a> {
    pub fn place(&self) -> Place {
        Place::of(self.text, self.spanned.span().start)
    }

    fn wrong_type(&self, expected: &'static str) -> SystemError {
        let found = match self.spanned.get_ref() {
            DeValue::String(text) => format!("the string \"{text}\""),
            DeValue::Integer(number) => format!("the number {}", number.as_str()),
            DeValue::Float(number) => format!("the number {}", number.as_str()),
            DeValue::Boolean(_) => "a boolean".to_owned(),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        let key = self.key.clone();
        SystemError::new(
            Some(self.place()),
            SystemProblem::WrongType {
                key,
                expected,
                found,
            },
        )
    }

    pub fn bad(&self, reason: impl Into<String>) -> SystemError {
        let (key, reason) = (self.key.clone(), reason.into());
        SystemError::new(Some(self.place()), SystemProblem::BadValue { key, reason })
    }

    pub fn string(&self) -> Result<Spelled<String>, SystemError> {
        let text = self.spanned.get_ref().as_str();
        let text = text.ok_or_else(|| self.wrong_type("a string"))?;
        Ok(Spelled {
            value: text.to_owned(),
            place: Some(self.place()),
        })
    }

    /// A name: not empty, one line.
    pub fn name(&self) -> Result<Spelled<String>, SystemError> {
        let name = self.string()?;
        if name.value.trim().is_empty() || name.value.chars().any(char::is_control) {
            return Err(self.bad("expected a name in one line"));
        }
        Ok(name)
    }

    /// A whole number from `least` to [`COUNT_MAX`].
    pub fn count(&self, least: u32) -> Result<Spelled<u32>, SystemError> {
        let DeValue::Integer(digits) = self.spanned.get_ref() else {
            return Err(self.wrong_type("a whole number"));
        };
        let count = u32::from_str_radix(digits.as_str(), digits.radix()).ok();
        match count.filter(|count| (least..=COUNT_MAX).contains(count)) {
            Some(value) => Ok(Spelled {
                value,
                place: Some(self.place()),
            }),
            None => Err(self.bad(format!(
                "expected a whole number from {least} to {COUNT_MAX}, found {}",
                digits.as_str()
            ))),
        }
    }

    pub fn number(&self) -> Result<f64, SystemError> {
        let digits = match self.spanned.get_ref() {
            DeValue::Integer(number) => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => return Err(self.wrong_type("a number")),
        };
        digits
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| self.bad(format!("`{digits}` is no number here")))
    }

    pub fn boolean(&self) -> Result<bool, SystemError> {
        let value = self.spanned.get_ref().as_bool();
        value.ok_or_else(|| self.wrong_type("true or false"))
    }

    /// Whether the value is just this word, where a word stands beside a quantity.
    pub fn is_word(&self, word: &str) -> bool {
        self.spanned.get_ref().as_str() == Some(word)
    }

    pub fn bytes(&self) -> Result<Bytes, SystemError> {
        let text = self.string()?.value;
        text.parse().map_err(|error| self.bad(format!("{error}")))
    }

    /// Reads a size of at least one byte.
    pub fn grain(&self) -> Result<Bytes, SystemError> {
        let bytes = self.bytes()?;
        if bytes.get() == 0 {
            return Err(self.bad("a grain of zero forwards nothing".to_owned()));
        }
        Ok(bytes)
    }

    pub fn items(&self) -> Result<Vec<Value<'a>>, SystemError> {
        let array = self.spanned.get_ref().as_array();
        let array = array.ok_or_else(|| self.wrong_type("an array"))?;
        Ok(array
            .iter()
            .enumerate()
            .map(|(index, spanned)| Value {
                text: self.text,
                key: format!("{}[{index}]", self.key),
                spanned,
            })
            .collect())
    }

    /// Reads an array with one reader for its items.
    pub fn list<T>(
        &self,
        read: impl FnMut(Value<'a>) -> Result<T, SystemError>,
    ) -> Result<Vec<T>, SystemError> {
        self.items()?.into_iter().map(read).collect()
    }

    /// A table with any keys: a table of named things.
    pub fn named_things(&self) -> Result<Table<'a>, SystemError> {
        let entries = self.spanned.get_ref().as_table();
        Ok(Table {
            text: self.text,
            name: self.key.clone(),
            place: self.place(),
            entries: entries.ok_or_else(|| self.wrong_type("a table"))?,
        })
    }

    pub fn table(&self, known: &[&str]) -> Result<Table<'a>, SystemError> {
        let table = self.named_things()?;
        table.only(known)?;
        Ok(table)
    }

    /// One of the words of a closed list.
    pub fn choice<T: Copy>(
        &self,
        kind: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<T, SystemError> {
        let word = self.string()?;
        let found = choices.iter().find(|(name, _)| *name == word.value);
        if let Some((_, choice)) = found {
            return Ok(*choice);
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let near = nearest(&word.value, names.iter().copied());
        let name = word.value.clone();
        let error = SystemError::new(word.place, SystemProblem::UnknownName { kind, name });
        Err(match near {
            Some(_) => error.did_you_mean(near),
            None => error.hint(format!("use one of {}", names.join(", "))),
        })
    }

    /// A constant: a bare quantity, or a table with its origin.
    pub fn constant<T: Quantity>(&self) -> Result<Constant<T>, SystemError> {
        if !self.spanned.get_ref().is_table() {
            return Ok(Constant::stated(self.quantity()?));
        }
        let table = self.table(&[
            "value",
            "low",
            "high",
            "evidence",
            "source",
            "datasets",
            "bytes",
            "method",
            "error_pct",
        ])?;
        let value = table.need("value")?.quantity()?;
        let low = table.optional("low", |low| low.quantity())?;
        let high = table.optional("high", |high| high.quantity())?;
        let interval = match (low, high) {
            (Some(low), Some(high)) => Some((low, high)),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                return Err(self.bad("an interval has both `low` and `high`"));
            }
        };
        let evidences = Evidence::ALL.map(|evidence| (evidence.name(), evidence));
        let evidence = table
            .optional("evidence", |word| word.choice("evidence", &evidences))?
            .unwrap_or(Evidence::Stated);
        let provenance = Provenance {
            evidence,
            source: table.optional("source", |text| Ok(text.string()?.value))?,
            datasets: table
                .optional("datasets", |ids| ids.list(|id| Ok(id.name()?.value)))?
                .unwrap_or_default(),
            bytes: table.optional("bytes", |range| range.byte_range())?,
            method: table.optional("method", |text| Ok(text.string()?.value))?,
            error_pct: table.optional("error_pct", |number| number.number())?,
        };
        // A table that says no more than a bare value is one.
        let says_nothing = provenance == Provenance::new(Evidence::Stated);
        Ok(Constant {
            value,
            interval,
            provenance: (!says_nothing).then_some(provenance),
        })
    }

    fn quantity<T: Quantity>(&self) -> Result<T, SystemError> {
        let read = match self.spanned.get_ref() {
            DeValue::String(text) => T::from_text(text),
            DeValue::Integer(_) | DeValue::Float(_) => {
                T::from_number(self.number()?).ok_or_else(|| {
                    self.wrong_type(T::EXPECTED)
                        .hint("units are part of values")
                })?
            }
            _ => return Err(self.wrong_type(T::EXPECTED)),
        };
        read.map_err(|reason| self.bad(reason))
    }

    fn byte_range(&self) -> Result<(Bytes, Bytes), SystemError> {
        let text = self.string()?.value;
        let (first, last) = text
            .split_once("..")
            .ok_or_else(|| self.bad("expected a range such as \"1 MiB..1 GiB\""))?;
        let parse = |text: &str| text.parse().map_err(|error| self.bad(format!("{error}")));
        Ok((parse(first)?, parse(last)?))
    }
}
