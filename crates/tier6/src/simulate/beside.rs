//! Calls beside the measured one, as typed: `all_to_all:16M:chips=8-15:start=10us`.

use super::chips::{Placed, read_chips};
use super::scene::domain;
use crate::predict::{Site, parse_algorithms, parse_collective, plans};
use crate::{Error, PredictRequest, Variant};
use std::collections::BTreeSet;
use tier6_collective::{Algorithm, Collective, Grain};
use tier6_math::{Parameters, Plan};
use tier6_report::{AlgorithmChoice, ProtocolChoice};
use tier6_system::{ChipId, nearest};
use tier6_units::{Bytes, Micros, SimTime, SizeRange};

const KEYS: [&str; 4] = ["size", "algorithm", "chips", "start"];
const EXAMPLE: &str =
    "for example `--beside all_to_all:16M:algorithm=direct:chips=8-15:start=10us`";

/// A call beside, as typed.
#[derive(Debug)]
pub(super) struct Asked {
    /// The option with its value, for errors.
    option: String,
    collective: Collective,
    choice: AlgorithmChoice,
    /// `None` for as many bytes as the measured call has.
    bytes: Option<Bytes>,
    pub(super) chips: Option<Vec<ChipId>>,
    start: SimTime,
}

impl Asked {
    /// Reads a collective, and fields behind colons: a size, or `key=value`.
    ///
    /// # Errors
    ///
    /// When it cannot be read, with what could be meant.
    pub(super) fn read(text: &str) -> Result<Self, Error> {
        let option = format!("--beside {text}");
        let wrong = |what: String, hint: String| Error::Usage {
            message: format!("`{option}`: {what}"),
            hint: Some(hint),
        };
        let of_field = |error: Error| {
            let hint = error.hint().unwrap_or_else(|| EXAMPLE.to_owned());
            wrong(error.to_string(), hint)
        };
        let mut fields = text.split(':').map(str::trim);
        let name = fields.next().unwrap_or_default();
        let mut asked = Self {
            option: option.clone(),
            collective: parse_collective(name).map_err(of_field)?,
            choice: AlgorithmChoice::Auto,
            bytes: None,
            chips: None,
            start: SimTime::ZERO,
        };
        let mut seen = BTreeSet::new();
        for field in fields {
            let (key, value) = field.split_once('=').unwrap_or(("size", field));
            if !seen.insert(key) {
                return Err(wrong(format!("`{key}` is given twice"), EXAMPLE.to_owned()));
            }
            let example = |_: &dyn std::error::Error| EXAMPLE.to_owned();
            match key {
                "size" => {
                    let size = value.parse::<Bytes>();
                    asked.bytes =
                        Some(size.map_err(|error| wrong(error.to_string(), example(&error)))?);
                }
                "start" => {
                    let start = value.parse::<Micros>();
                    let start = start.map_err(|error| wrong(error.to_string(), example(&error)))?;
                    asked.start = start.into();
                }
                "chips" => asked.chips = Some(read_chips(&option, value)?),
                "algorithm" => match parse_algorithms(value).map_err(of_field)? {
                    AlgorithmChoice::All => {
                        let what = "a call beside has one algorithm".to_owned();
                        return Err(wrong(what, "name one, or `auto`".to_owned()));
                    }
                    choice => asked.choice = choice,
                },
                _ => {
                    let hint = match nearest(key, KEYS) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("one of {}", KEYS.join(", ")),
                    };
                    return Err(wrong(format!("unknown field `{key}`"), hint));
                }
            }
        }
        Ok(asked)
    }
}

/// A call beside, with its place and its algorithms.
pub(super) struct Beside {
    /// `beside 1`.
    pub(super) name: String,
    option: String,
    pub(super) collective: Collective,
    pub(super) bytes: Option<Bytes>,
    pub(super) ranks: u32,
    pub(super) chips: Vec<ChipId>,
    pub(super) start: SimTime,
    /// What the call assumes beside the system.
    pub(super) assumed: Parameters,
    plans: Vec<(Algorithm, Plan)>,
}

impl Beside {
    /// Gives every call beside its chips: those it names, else all that neither the measured call
    /// nor one before it uses, else those of the measured call.
    ///
    /// # Errors
    ///
    /// When a call cannot run there.
    pub(super) fn place(
        asked: Vec<Asked>,
        site: &Site,
        of_call: &[ChipId],
        grain: Grain,
    ) -> Result<Vec<Self>, Error> {
        let named = asked.iter().filter_map(|one| one.chips.as_deref());
        let mut used: BTreeSet<u32> = named.flatten().map(|chip| chip.get()).collect();
        used.extend(of_call.iter().map(|chip| chip.get()));
        let mut placed = Vec::new();
        for (number, mut one) in (1..).zip(asked) {
            let chips = one.chips.take().unwrap_or_else(|| {
                let all = (0..site.topology.n_chips()).filter(|chip| !used.contains(chip));
                let free: Vec<ChipId> = all.map(ChipId::new).collect();
                if free.len() < 2 {
                    of_call.to_vec()
                } else {
                    free
                }
            });
            used.extend(chips.iter().map(|chip| chip.get()));
            placed.push(Self::new(number, one, site, chips, grain)?);
        }
        Ok(placed)
    }

    fn new(
        number: u32,
        asked: Asked,
        site: &Site,
        chips: Vec<ChipId>,
        grain: Grain,
    ) -> Result<Self, Error> {
        let own = Site {
            system: site.system.clone(),
            topology: site.topology.clone(),
            ..*site
        };
        let Placed { site, chips, laid } = Placed::on(own, chips);
        let variant = Variant::default();
        let sizes: SizeRange = "0".parse().expect("Invariant: a size");
        let request = PredictRequest {
            system: "",
            collective: asked.collective,
            choice: asked.choice,
            protocols: ProtocolChoice::Without,
            variant: &variant,
            grain,
            ranks: Some(site.ranks),
            nodes: None,
            sizes: &sizes,
        };
        let (plans, _) = plans(&request, &site).map_err(|error| of(&asked.option, &error))?;
        let first = |(algorithm, plans): (Algorithm, Vec<Plan>)| {
            plans.into_iter().next().map(|plan| (algorithm, plan))
        };
        Ok(Self {
            name: format!("beside {number}"),
            option: asked.option,
            collective: asked.collective,
            bytes: asked.bytes,
            ranks: site.ranks,
            chips,
            start: asked.start,
            assumed: Parameters {
                placement: laid,
                ..Parameters::of(&site.topology)
            },
            plans: plans.into_iter().filter_map(first).collect(),
        })
    }

    /// Returns the algorithm: the one that was asked for, else the one of NCCL's that the Math
    /// engine calls fastest.
    pub(super) fn algorithm(&self, bytes: Bytes) -> Algorithm {
        let time = |(_, plan): &&(Algorithm, Plan)| plan.time(bytes).get();
        let fastest = self.plans.iter().min_by(|a, b| time(a).total_cmp(&time(b)));
        let (algorithm, _) = fastest.expect("Invariant: there is a plan, or an error says why not");
        *algorithm
    }

    /// Says of an error that it is of this call.
    pub(super) fn refused(&self, error: &dyn std::error::Error) -> Error {
        of(&self.option, &domain(error))
    }
}

/// Puts the option in front of an error.
fn of(option: &str, error: &Error) -> Error {
    Error::Domain {
        message: format!("`{option}`: {error}"),
        hint: error.hint(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read() {
        let asked = Asked::read("all_to_all:16M:algorithm=direct:chips=0,2:start=1ms").unwrap();
        assert_eq!(asked.collective, Collective::AllToAll);
        assert_eq!(asked.choice, AlgorithmChoice::One(Algorithm::Direct));
        assert_eq!(asked.bytes, Some(Bytes::new(16 << 20)));
        assert_eq!(asked.chips, Some(vec![ChipId::new(0), ChipId::new(2)]));
        assert_eq!(asked.start, SimTime::from_ps(1_000_000_000));
        let asked = Asked::read("all_reduce").unwrap();
        assert_eq!((asked.bytes, asked.chips), (None, None));
    }

    #[test]
    fn what_cannot_be_read_has_a_way_out() {
        for (text, says) in [
            ("al_reduce", "did you mean `all_reduce`?"),
            ("all_reduce:many", "for example"),
            ("all_reduce:1M:size=2M", "given twice"),
            ("all_reduce:algorithm=rnig", "did you mean `ring`?"),
            ("all_reduce:algorithm=all", "name one"),
            ("all_reduce:chips=0-x", "`0-7`"),
            ("all_reduce:start=soon", "for example"),
            ("all_reduce:strat=1us", "did you mean `start`?"),
            ("all_reduce:colour=1", "one of size"),
        ] {
            let error = Asked::read(text).unwrap_err();
            let said = format!("{error}; {}", error.hint().unwrap());
            assert!(said.contains(says), "{text}: {said}");
            assert!(said.starts_with("`--beside"), "{said}");
        }
    }
}
