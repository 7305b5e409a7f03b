//! Looking up link and switch classes: first in the file, then in the catalog; gaps filled from
//! the class that a link is `like`.

use super::sense::{check_link, check_switch};
use crate::catalog;
use crate::place::Spelled;
use crate::spec::{ByProtocol, LinkSpec, SystemSpec, shares_or_priors};
use crate::suggest::nearest;
use crate::topology::{LinkClass, LinkClassId, SwitchClass, SwitchClassId};
use crate::{SystemError, SystemProblem};

/// The classes in use so far.
pub(crate) struct Classes<'s> {
    spec: &'s SystemSpec,
    links: Vec<LinkClass>,
    switches: Vec<SwitchClass>,
}

impl<'s> Classes<'s> {
    pub fn of(spec: &'s SystemSpec) -> Self {
        Self {
            spec,
            links: Vec::new(),
            switches: Vec::new(),
        }
    }

    pub fn into_tables(self) -> (Vec<LinkClass>, Vec<SwitchClass>) {
        (self.links, self.switches)
    }

    pub fn link_class(&self, id: LinkClassId) -> &LinkClass {
        &self.links[id.index()]
    }

    pub fn switch_class(&self, id: SwitchClassId) -> &SwitchClass {
        &self.switches[id.index()]
    }

    /// Returns the id of a link class.
    pub fn link(&mut self, name: &Spelled<String>) -> Result<LinkClassId, SystemError> {
        let known = self.links.iter().position(|link| link.name == name.value);
        let index = if let Some(index) = known {
            index
        } else {
            let class = self.fill_in(name)?;
            check_link(&class, name.place)?;
            self.links.push(class);
            self.links.len() - 1
        };
        Ok(LinkClassId::new(crate::topology::count(index)))
    }

    /// Returns the id of a switch class.
    pub fn switch(&mut self, name: &Spelled<String>) -> Result<SwitchClassId, SystemError> {
        let known = |class: &SwitchClass| class.name == name.value;
        let index = if let Some(index) = self.switches.iter().position(known) {
            index
        } else {
            let all = || self.spec.switches.iter().chain(&catalog().switches);
            let found = all().find(|switch| switch.name.value == name.value);
            let names = all().map(|switch| switch.name.value.as_str());
            let switch = found.ok_or_else(|| unknown("switch", name, names))?;
            let class = SwitchClass {
                name: name.value.clone(),
                ports: switch.ports,
                latency: switch.latency.clone(),
                abilities: switch.abilities.clone(),
            };
            check_switch(&class, name.place)?;
            self.switches.push(class);
            self.switches.len() - 1
        };
        Ok(SwitchClassId::new(crate::topology::count(index)))
    }

    /// Follows `like` until nothing is missing. A class of the file that is like its own name
    /// means the catalog's.
    fn fill_in(&self, name: &Spelled<String>) -> Result<LinkClass, SystemError> {
        let first = self.find_link(name)?;
        let mut filled = first.clone();
        let mut visited = vec![first];
        let mut current = first;
        while let Some(like) = &current.like {
            let next = if like.value == current.name.value {
                let bundled = catalog().links.iter();
                bundled
                    .filter(|link| link.name.value == like.value)
                    .find(|link| !std::ptr::eq(*link, current))
                    .ok_or_else(|| circle(&[current], current, like))?
            } else {
                self.find_link(like)?
            };
            if visited.iter().any(|link| std::ptr::eq(*link, next)) {
                return Err(circle(&visited, next, like));
            }
            visited.push(next);
            filled.rate = filled.rate.or_else(|| next.rate.clone());
            filled.latency = filled.latency.or_else(|| next.latency.clone());
            filled.efficiency = filled.efficiency.or_else(|| next.efficiency.clone());
            filled.step = both(filled.step, next.step.as_ref());
            filled.share = both(filled.share, next.share.as_ref());
            filled.mtu = filled.mtu.or(next.mtu);
            current = next;
        }
        let missing = |key| {
            let table = format!("`links.{}`", name.value);
            SystemError::new(first.name.place, SystemProblem::MissingKey { key, table })
                .hint("give it, or name a class to be `like`")
        };
        Ok(LinkClass {
            name: name.value.clone(),
            rate: filled.rate.ok_or_else(|| missing("rate"))?,
            latency: filled.latency.ok_or_else(|| missing("latency"))?,
            efficiency: filled.efficiency.ok_or_else(|| missing("efficiency"))?,
            step: filled.step,
            share: shares_or_priors(filled.share.unwrap_or_default()),
            mtu: filled.mtu,
        })
    }

    fn find_link(&self, name: &Spelled<String>) -> Result<&'s LinkSpec, SystemError> {
        let all = || self.spec.links.iter().chain(&catalog().links);
        all()
            .find(|link| link.name.value == name.value)
            .ok_or_else(|| unknown("link", name, all().map(|link| link.name.value.as_str())))
    }
}

/// Fills the gaps of the one from the other, protocol by protocol.
fn both<T: Clone>(
    nearer: Option<ByProtocol<Option<T>>>,
    farther: Option<&ByProtocol<Option<T>>>,
) -> Option<ByProtocol<Option<T>>> {
    match (nearer, farther) {
        (Some(nearer), Some(farther)) => Some(nearer.or(farther.clone())),
        (nearer, farther) => nearer.or_else(|| farther.cloned()),
    }
}

fn circle(visited: &[&LinkSpec], again: &LinkSpec, at: &Spelled<String>) -> SystemError {
    let names = visited.iter().map(|link| link.name.value.clone());
    let names = names.chain([again.name.value.clone()]).collect();
    SystemError::new(at.place, SystemProblem::CircularLinks { names })
        .hint("one of them must give its own numbers")
}

fn unknown<'a>(
    kind: &'static str,
    name: &Spelled<String>,
    known: impl Iterator<Item = &'a str>,
) -> SystemError {
    let known: Vec<&str> = known.collect();
    let near = nearest(&name.value, known.iter().copied());
    let problem = SystemProblem::UnknownName {
        kind,
        name: name.value.clone(),
    };
    let error = SystemError::new(name.place, problem);
    if near.is_some() {
        return error.did_you_mean(near);
    }
    let table = if kind == "link" { "links" } else { "switches" };
    error.hint(format!("define it in a table `[{table}.{}]`", name.value))
}
