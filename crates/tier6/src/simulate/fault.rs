//! Faults as typed: `slow-link=chip0-chip1:50%`, `failed-link=nic0-leaf0:20us`,
//! `late-rank=3:100us`, `loss=1e-4`, `loss=chip0-hub:0.1%`.

use super::names::typed;
use crate::Error;
use tier6_g5::Fault;
use tier6_system::{LinkId, nearest};
use tier6_units::{Micros, SimTime};

const KINDS: [&str; 4] = ["slow-link", "failed-link", "late-rank", "loss"];

/// Reads faults; a name may stand for several parallel links.
///
/// # Errors
///
/// When one cannot be read, or names a link that the system does not have.
pub(super) fn read_faults(texts: &[String], link_names: &[String]) -> Result<Vec<Fault>, Error> {
    let mut faults = Vec::new();
    for text in texts {
        faults.extend(read(text, link_names)?);
    }
    Ok(faults)
}

fn read(text: &str, link_names: &[String]) -> Result<Vec<Fault>, Error> {
    let (kind, what) = text.split_once('=').unwrap_or((text, ""));
    match kind {
        "slow-link" => {
            let (links, share) = pair(text, what, "slow-link=chip0-chip1:50%")?;
            let share = share_of(text, share)?;
            if share <= 0.0 {
                let hint = "a link that carries nothing is `failed-link`".to_owned();
                return Err(wrong(text, "a slow link carries something", hint));
            }
            let links = find(text, links, link_names)?.into_iter();
            Ok(links.map(|link| Fault::SlowLink { link, share }).collect())
        }
        "failed-link" => {
            let (links, at) = match what.split_once(':') {
                Some((links, at)) => (links, time(text, at)?),
                None => (what, SimTime::ZERO),
            };
            let links = find(text, links, link_names)?.into_iter();
            Ok(links.map(|link| Fault::FailedLink { link, at }).collect())
        }
        "late-rank" => {
            let (rank, by) = pair(text, what, "late-rank=3:100us")?;
            let rank = rank.trim().parse().map_err(|_| {
                let hint = "for example `late-rank=3:100us`".to_owned();
                wrong(text, "expected the number of a rank", hint)
            })?;
            let by = time(text, by)?;
            Ok(vec![Fault::LateRank { rank, by }])
        }
        "loss" => match what.split_once(':') {
            None => {
                let probability = share_of(text, what)?;
                Ok(vec![Fault::Loss {
                    link: None,
                    probability,
                }])
            }
            Some((links, probability)) => {
                let probability = share_of(text, probability)?;
                let links = find(text, links, link_names)?.into_iter();
                let loss = |link| Fault::Loss {
                    link: Some(link),
                    probability,
                };
                Ok(links.map(loss).collect())
            }
        },
        _ => {
            let hint = match nearest(kind, KINDS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of {}", KINDS.join(", ")),
            };
            Err(wrong(text, "unknown kind of fault", hint))
        }
    }
}

fn pair<'t>(text: &str, what: &'t str, example: &str) -> Result<(&'t str, &'t str), Error> {
    what.split_once(':').ok_or_else(|| {
        let hint = format!("for example `{example}`");
        wrong(text, "expected what and how much", hint)
    })
}

/// A share as `0.5` or `50%`, 0 to 1.
fn share_of(text: &str, share: &str) -> Result<f64, Error> {
    let share = share.trim();
    let number = match share.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => share.parse(),
    };
    let is_share = |number: &f64| (0.0..=1.0).contains(number);
    number.ok().filter(is_share).ok_or_else(|| {
        let hint = "for example `50%` or `1e-4`".to_owned();
        wrong(text, "expected a share from 0 to 1", hint)
    })
}

fn time(text: &str, time: &str) -> Result<SimTime, Error> {
    let read = time.parse::<Micros>();
    let hint = "a time behind the last colon, as in `late-rank=3:100us`".to_owned();
    let time = read.map_err(|error| wrong(text, &error.to_string(), hint))?;
    Ok(time.into())
}

/// Returns the links of a name, `chip0-chip1` from the one to the other, or of a number.
fn find(text: &str, name: &str, link_names: &[String]) -> Result<Vec<LinkId>, Error> {
    let wanted = typed(name);
    let ids = (0..).map(LinkId::new);
    let found: Vec<LinkId> = ids
        .zip(link_names)
        .filter(|(link, name)| typed(name) == wanted || link.get().to_string() == wanted)
        .map(|(link, _)| link)
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names: Vec<String> = link_names.iter().map(|name| typed(name)).collect();
    let hint = match (
        nearest(&wanted, names.iter().map(String::as_str)),
        names.first(),
    ) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, Some(first)) => format!(
            "links are named from the sender to the receiver, as `{first}`; `--stats` lists those in \
             use"
        ),
        (None, None) => "the system has no links".to_owned(),
    };
    let what = format!("the system has no link `{name}`");
    Err(wrong(text, &what, hint))
}

fn wrong(text: &str, what: &str, hint: String) -> Error {
    Error::Usage {
        message: format!("`--fault {text}`: {what}"),
        hint: Some(hint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        [
            "chip0 to hub",
            "hub to chip0",
            "nic0 to leaf 3",
            "nic0 to leaf 3",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn one(text: &str) -> Result<Vec<Fault>, String> {
        read(text, &names()).map_err(|error| format!("{error}; {:?}", error.hint()))
    }

    #[test]
    fn faults_are_read() {
        let link = LinkId::new;
        let slow = Fault::SlowLink {
            link: link(0),
            share: 0.5,
        };
        assert_eq!(one("slow-link=chip0-hub:50%"), Ok(vec![slow]));
        assert_eq!(one("slow-link=0:0.5"), Ok(vec![slow]));
        assert_eq!(one("slow-link=chip 0 to hub:50%"), Ok(vec![slow]));
        let failed = |id| Fault::FailedLink {
            link: link(id),
            at: SimTime::from_ps(20_000_000),
        };
        assert_eq!(
            one("failed-link=nic0-leaf 3:20us"),
            Ok(vec![failed(2), failed(3)])
        );
        let late = Fault::LateRank {
            rank: 3,
            by: SimTime::from_ps(1_000_000_000),
        };
        assert_eq!(one("late-rank=3:1ms"), Ok(vec![late]));
        let loss = Fault::Loss {
            link: None,
            probability: 1e-4,
        };
        assert_eq!(one("loss=1e-4"), Ok(vec![loss]));
        let loss = Fault::Loss {
            link: Some(link(1)),
            probability: 0.001,
        };
        assert_eq!(one("loss=hub-chip0:0.1%"), Ok(vec![loss]));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (text, says) in [
            ("slow-link=chip0-hbu:50%", "did you mean `chip0-hub`?"),
            ("slow-link=elsewhere:50%", "as `chip0-hub`"),
            ("slow-link=chip0-hub", "slow-link=chip0-chip1:50%"),
            ("slow-link=chip0-hub:0", "`failed-link`"),
            ("slow-link=chip0-hub:150%", "0 to 1"),
            ("slow-lnik=chip0-hub:50%", "did you mean `slow-link`?"),
            ("late-rank=x:1us", "the number of a rank"),
            ("late-rank=3:soon", "expected a time"),
            ("failed-link=chip0-hub:soon", "a time behind the last colon"),
            ("loss=", "0 to 1"),
            ("", "one of slow-link"),
        ] {
            let error = one(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
