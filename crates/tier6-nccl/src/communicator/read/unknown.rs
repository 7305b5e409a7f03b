//! Keys of a communicator's file that are not read: most are misspelt. What is read is what the
//! reader's own types say.

use super::{RawCommunicator, RawGraph, RawLine};
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

/// What NCCL's own tables hold in a line beside the communicator.
const BESIDE: [&str; 6] = [
    "latencies",
    "bandwidths",
    "ringbdw",
    "maxThreads",
    "threadThresholds",
    "error",
];
/// What NCCL knows of a communicator and its tuner does not ask for.
const NOT_ASKED: [&str; 5] = [
    "cudartVersion",
    "topoCpuModel",
    "collChannels",
    "p2pnChannels",
    "p2pnChannelsPerPeer",
];
/// What NCCL knows of a graph and its tuner does not ask for.
const NOT_ASKED_OF_GRAPHS: [&str; 2] = ["crossNic", "nHops"];

/// A key that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key as it is written.
    pub key: String,
    /// What holds it: `line`, `communicator`, `graph`.
    pub holder: &'static str,
    /// The keys that are read there.
    pub known: &'static [&'static str],
}

/// Returns the keys of a communicator's JSON that are not read, each once.
pub fn unknown_keys(json: &Value) -> Vec<UnknownKey> {
    let mut found = Vec::new();
    let inputs = json.get("inputs");
    if inputs.is_some() {
        look(json, "line", fields_of::<RawLine>(), &BESIDE, &mut found);
    }
    let communicator = inputs.unwrap_or(json);
    let known = fields_of::<RawCommunicator>();
    look(communicator, "communicator", known, &NOT_ASKED, &mut found);
    let known = fields_of::<RawGraph>();
    let graphs = communicator.get("graphs").and_then(Value::as_array);
    for graph in graphs.into_iter().flatten() {
        look(graph, "graph", known, &NOT_ASKED_OF_GRAPHS, &mut found);
    }
    found
}

/// Adds the keys of one object that are neither read nor known to be of no use.
fn look(
    object: &Value,
    holder: &'static str,
    known: &'static [&'static str],
    of_no_use: &[&str],
    found: &mut Vec<UnknownKey>,
) {
    for key in object.as_object().into_iter().flat_map(|map| map.keys()) {
        let unknown = UnknownKey {
            key: key.clone(),
            holder,
            known,
        };
        let is_known = known.contains(&key.as_str()) || of_no_use.contains(&key.as_str());
        if !is_known && !found.contains(&unknown) {
            found.push(unknown);
        }
    }
}

/// Returns the names of a type's fields as a file writes them.
fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut asked = Asked(&[]);
    // A type asks for its fields first; that there are none to give is the error.
    let _ = T::deserialize(&mut asked);
    asked.0
}

/// Notes which fields a type asks for.
struct Asked(&'static [&'static str]);

impl<'de> Deserializer<'de> for &mut Asked {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0 = fields;
        self.deserialize_any(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("there is no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_that_are_not_read_are_found_once() {
        let json = json!({
            "id": "x", "ids": 1, "latencies": {},
            "inputs": {"nRanks": 8, "nRank": 8, "MNNVL": 0, "topoCpuModel": 1,
                "graphs": [{"algo": "ring", "bwInt": 1}, {"bwInt": 1, "nHops": 0}]}
        });
        let found: Vec<(&str, String)> = unknown_keys(&json)
            .into_iter()
            .map(|unknown| (unknown.holder, unknown.key))
            .collect();
        let own = |holder, key: &str| (holder, key.to_owned());
        let inner = [own("communicator", "nRank"), own("graph", "bwInt")];
        assert_eq!(found[0], own("line", "ids"));
        assert_eq!(found[1..], inner);
        assert_eq!(unknown_keys(&json["inputs"]).len(), inner.len());
    }

    #[test]
    fn the_book_lists_every_key() {
        let page = include_str!("../../../../../docs/src/tuner.md");
        let read = [
            fields_of::<RawLine>(),
            fields_of::<RawCommunicator>(),
            fields_of::<RawGraph>(),
        ];
        assert_eq!(read.map(<[_]>::len), [4, 31, 9]);
        for key in read.into_iter().flatten() {
            assert!(page.contains(&format!("`{key}`")), "{key}");
        }
    }
}
