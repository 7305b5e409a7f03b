//! What of a run's set-up must agree before its times may stand beside those of another run.

use std::collections::BTreeSet;
use tier6_measure::RunSetup;

/// Returns how a time was taken: names and values, `None` for what the input does not tell.
pub(crate) fn timing_facts(setup: &RunSetup) -> [(&'static str, Option<String>); 3] {
    // nccl-tests' defaults: one operation per group, no graph. A header not seen says nothing.
    let known = |value: Option<u32>, default: u32| {
        let seen = setup.header_seen || setup.command.is_some() || value.is_some();
        seen.then(|| value.unwrap_or(default).to_string())
    };
    let blocking = || setup.command.is_some().then(|| "0".to_owned());
    [
        (
            "number of operations per group",
            known(setup.aggregated_iterations, 1),
        ),
        ("number of graph launches", known(setup.graph_launches, 0)),
        ("blocking mode", setup.blocking.clone().or_else(blocking)),
    ]
}

/// A fact of the set-up with two values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub what: String,
    pub first: String,
    pub second: String,
}

/// Returns how differently two runs were timed; what one of them does not tell is no difference.
pub(crate) fn timing_differences(first: &RunSetup, second: &RunSetup) -> Vec<Difference> {
    let facts = timing_facts(first).into_iter().zip(timing_facts(second));
    let told = facts.filter_map(|((what, a), (_, b))| Some((what, a?, b?)));
    told.filter(|(_, a, b)| a != b)
        .map(|(what, first, second)| Difference {
            what: what.to_owned(),
            first,
            second,
        })
        .collect()
}

/// Returns the settings in which two runs differ: columns and keys that both name, and NCCL's
/// variables, where not being set is a value, too.
pub(crate) fn setting_differences(first: &RunSetup, second: &RunSetup) -> Vec<Difference> {
    let mut found = Vec::new();
    for (key, value) in &first.extra {
        let other = second.extra.iter().find(|(name, _)| name == key);
        if let Some((_, other)) = other.filter(|(_, other)| other != value) {
            found.push(Difference {
                what: key.clone(),
                first: value.clone(),
                second: other.clone(),
            });
        }
    }
    let value = |setup: &RunSetup, name: &str| {
        let set = setup.environment.iter().find(|(key, _)| key == name);
        set.map_or_else(|| "not set".to_owned(), |(_, value)| value.clone())
    };
    let variables: BTreeSet<&str> = [first, second]
        .into_iter()
        .flat_map(|setup| &setup.environment)
        .map(|(name, _)| name.as_str())
        .filter(|name| name.starts_with("NCCL_") && !name.starts_with("NCCL_DEBUG"))
        .collect();
    for name in variables {
        let (a, b) = (value(first, name), value(second, name));
        if a != b {
            found.push(Difference {
                what: name.to_owned(),
                first: a,
                second: b,
            });
        }
    }
    found
}

/// Says whether two runs may come from one machine and library, as far as they tell.
pub(crate) fn may_be_one_machine(first: &RunSetup, second: &RunSetup) -> bool {
    let devices = |setup: &RunSetup| -> BTreeSet<String> {
        let names = setup.devices.iter().map(|device| device.name.clone());
        names.filter(|name| !name.is_empty()).collect()
    };
    let (a, b) = (devices(first), devices(second));
    let versions = first.library_version.zip(second.library_version);
    (a.is_empty() || b.is_empty() || a == b) && versions.is_none_or(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(aggregated: Option<u32>, environment: &[(&str, &str)]) -> RunSetup {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        RunSetup {
            header_seen: true,
            aggregated_iterations: aggregated,
            environment: environment.iter().map(pair).collect(),
            ..RunSetup::default()
        }
    }

    #[test]
    fn a_default_is_a_value_and_a_debug_level_is_none() {
        let (plain, grouped) = (setup(None, &[]), setup(Some(20), &[("NCCL_DEBUG", "INFO")]));
        let [only] = timing_differences(&plain, &grouped)
            .try_into()
            .expect("one");
        assert_eq!((only.first.as_str(), only.second.as_str()), ("1", "20"));
        assert!(setting_differences(&plain, &grouped).is_empty());
        assert!(timing_differences(&RunSetup::default(), &grouped).is_empty());
    }

    #[test]
    fn a_variable_that_is_not_set_differs_from_one_that_is() {
        let (plain, off) = (setup(None, &[]), setup(None, &[("NCCL_NVLS_ENABLE", "0")]));
        let [only] = setting_differences(&plain, &off).try_into().expect("one");
        assert_eq!(only.what, "NCCL_NVLS_ENABLE");
        assert_eq!(
            (only.first.as_str(), only.second.as_str()),
            ("not set", "0")
        );
    }
}
