//! What is said of a communicator's keys that nobody reads.

use serde_json::Value;
use tier6_nccl::{UnknownKey, unknown_keys};
use tier6_system::nearest;

/// Returns one sentence per key that is not read, with the key that may be meant.
pub(super) fn notes_on_keys(json: &Value) -> Vec<String> {
    unknown_keys(json).iter().map(note).collect()
}

fn note(unknown: &UnknownKey) -> String {
    let UnknownKey { key, holder, known } = unknown;
    let way_out = match nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "the book's page on NCCL's tuner lists the keys".to_owned(),
    };
    format!("`{key}` is no key of a {holder} and is passed over; {way_out}")
}
