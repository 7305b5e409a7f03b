//! The forms of an algorithm that a caller may choose: which trees, how ranks beyond a power of
//! two fold in, in how many pieces a message goes. One list of settings for both engines.
//!
//! A setting belongs to some algorithms; one that says nothing about any algorithm that was asked
//! for is an error, not silence.

use crate::Error;
use crate::predict::unknown;
use std::num::NonZeroU32;
use tier6_collective::{
    Algorithm, BidirForm, Distance, Fold, GatherForm, Partner, SecondShot, TorusPorts, Trees,
};
use tier6_math::law::Overlap;
use tier6_math::{Channels, Parameters, Pieces, Spread};
use tier6_units::Bytes;

const KEYS: [&str; 14] = [
    "trees",
    "fold",
    "distance",
    "gather",
    "second_shot",
    "bidir",
    "partner",
    "torus",
    "torus_ports",
    "pat_blocks",
    "pieces",
    "overlap",
    "channels",
    "spread",
];

/// Chosen forms, in the order in which they were given; none means the system's own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Variant {
    chosen: Vec<Chosen>,
}

/// A setting, with its name and value as they are spelled.
#[derive(Debug, Clone, PartialEq)]
struct Chosen {
    key: &'static str,
    value: String,
    setting: Setting,
}

#[derive(Debug, Clone, PartialEq)]
enum Setting {
    Trees(Trees),
    Fold(Fold),
    Distance(Distance),
    Gather(GatherForm),
    SecondShot(SecondShot),
    Bidir(BidirForm),
    Partner(Partner),
    Torus(Vec<u32>),
    TorusPorts(TorusPorts),
    PatBlocks(Option<u32>),
    Pieces(Pieces),
    Overlap(Overlap),
    Channels(Channels),
    Spread(Spread),
}

impl Variant {
    /// Reads settings: `trees=single`, or several with commas between; a hyphen is as good as an
    /// underscore.
    ///
    /// ```
    /// let variant = tier6::Variant::parse(&["fold=halves,distance=halving"])?;
    /// let settings: Vec<_> = variant.settings().collect();
    /// assert_eq!(settings, [("fold", "halves"), ("distance", "halving")]);
    /// # Ok::<(), tier6::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When a name or a value is unknown, with those that are possible, or a name comes twice.
    pub fn parse(texts: &[impl AsRef<str>]) -> Result<Self, Error> {
        let mut chosen: Vec<Chosen> = Vec::new();
        for text in texts.iter().flat_map(|text| text.as_ref().split(',')) {
            let next = Chosen::parse(text)?;
            if chosen.iter().any(|other| other.key == next.key) {
                return Err(Error::Usage {
                    message: format!("`{}` is chosen twice", next.key),
                    hint: None,
                });
            }
            chosen.push(next);
        }
        Ok(Self { chosen })
    }

    /// Returns the name and the value of each setting.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.chosen.iter().map(|one| (one.key, one.value.as_str()))
    }

    /// Changes what is assumed of a call.
    pub fn apply(&self, parameters: &mut Parameters) {
        for one in &self.chosen {
            match &one.setting {
                Setting::Trees(trees) => parameters.trees = Some(*trees),
                Setting::Fold(fold) => parameters.fold = *fold,
                Setting::Distance(distance) => parameters.distance = *distance,
                Setting::Gather(gather) => parameters.gather = *gather,
                Setting::SecondShot(second_shot) => parameters.second_shot = *second_shot,
                Setting::Bidir(bidir) => parameters.bidir = *bidir,
                Setting::Partner(partner) => parameters.partner = *partner,
                Setting::Torus(torus) => parameters.torus = Some(torus.clone()),
                Setting::TorusPorts(ports) => parameters.torus_ports = *ports,
                Setting::PatBlocks(blocks) => parameters.pat_blocks = *blocks,
                Setting::Pieces(pieces) => parameters.pieces = *pieces,
                Setting::Overlap(overlap) => parameters.overlap = *overlap,
                Setting::Channels(channels) => parameters.channels = *channels,
                Setting::Spread(spread) => parameters.spread = *spread,
            }
        }
    }

    /// Checks that each setting says something about one of the algorithms in question.
    ///
    /// # Errors
    ///
    /// When one does not, with the algorithms that it is of.
    pub fn check(&self, algorithms: &[Algorithm]) -> Result<(), Error> {
        for one in &self.chosen {
            let of = one.setting.algorithms();
            let is_moot = of.is_empty() || algorithms.is_empty();
            if is_moot || algorithms.iter().any(|algorithm| of.contains(algorithm)) {
                continue;
            }
            let names: Vec<&str> = of.iter().map(|algorithm| algorithm.name()).collect();
            let message = match algorithms {
                [algorithm] => format!("`{}` says nothing about `{algorithm}`", one.key),
                _ => format!(
                    "`{}` says nothing about the algorithms in question",
                    one.key
                ),
            };
            return Err(Error::Usage {
                message,
                hint: Some(format!("it is of `--algorithm {}`", names.join("` or `"))),
            });
        }
        Ok(())
    }
}

impl Chosen {
    fn parse(text: &str) -> Result<Self, Error> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(Error::Usage {
                message: format!("a variant is `NAME=VALUE`, found `{text}`"),
                hint: Some(format!("names are {}", KEYS.join(", "))),
            });
        };
        let spelled = |part: &str| part.trim().to_ascii_lowercase().replace('-', "_");
        let (wanted, value) = (spelled(key), spelled(value));
        let known = KEYS.into_iter().find(|known| *known == wanted);
        let key = known.ok_or_else(|| unknown("variant", key, KEYS.into_iter()))?;
        let setting = Setting::parse(key, &value)?;
        Ok(Self {
            key,
            value,
            setting,
        })
    }
}

impl Setting {
    fn parse(key: &'static str, value: &str) -> Result<Self, Error> {
        let choice = Choice { key, value };
        Ok(match key {
            "trees" => Self::Trees(choice.of(&[
                ("over_nodes", Trees::OverNodes),
                ("double", Trees::Double),
                ("single", Trees::Single),
            ])?),
            "fold" => Self::Fold(choice.of(&[("whole", Fold::Whole), ("halves", Fold::Halves)])?),
            "distance" => Self::Distance(choice.of(&[
                ("doubling", Distance::Doubling),
                ("halving", Distance::Halving),
            ])?),
            "gather" => Self::Gather(choice.of(&[
                ("ring", GatherForm::Ring),
                ("doubling", GatherForm::Doubling),
            ])?),
            "second_shot" => Self::SecondShot(choice.of(&[
                ("direct", SecondShot::Direct),
                ("multicast", SecondShot::Multicast),
            ])?),
            "bidir" => Self::Bidir(choice.of(&[
                ("short_side", BidirForm::ShortSide),
                ("split_data", BidirForm::SplitData),
            ])?),
            "partner" => {
                Self::Partner(choice.of(&[("shift", Partner::Shift), ("xor", Partner::Xor)])?)
            }
            "torus" => Self::Torus(choice.torus()?),
            "torus_ports" => {
                Self::TorusPorts(choice.of(&[("all", TorusPorts::All), ("one", TorusPorts::One)])?)
            }
            "pat_blocks" => {
                let blocks = choice.number_or(&[("all", None)], "a number of blocks", |n| {
                    Some(Some(n.get()))
                });
                Self::PatBlocks(blocks?)
            }
            "pieces" => Self::Pieces(choice.pieces()?),
            "overlap" => Self::Overlap(choice.number_or(
                &[("serial", Overlap::Serial), ("full", Overlap::Full)],
                "a number of pieces",
                |n| Some(Overlap::Chunked(n)),
            )?),
            "channels" => Self::Channels(choice.of(&[
                ("one", Channels::One),
                ("rotated", Channels::Rotated),
                ("all_peers", Channels::AllPeers),
            ])?),
            _ => Self::Spread(
                choice.of(&[("even", Spread::Even), ("preferred", Spread::Preferred)])?,
            ),
        })
    }

    /// Returns the algorithms that a setting says something about; none for every one.
    const fn algorithms(&self) -> &'static [Algorithm] {
        match self {
            Self::Trees(_) => &[Algorithm::Tree],
            Self::Fold(_) | Self::Distance(_) => &[Algorithm::HalvingDoubling],
            Self::Gather(_) => &[Algorithm::ScatterAllGather],
            Self::SecondShot(_) => &[Algorithm::TwoShot],
            Self::Bidir(_) => &[Algorithm::BidirRing],
            Self::Partner(_) => &[Algorithm::Pairwise],
            Self::Torus(_) | Self::TorusPorts(_) => &[Algorithm::TorusBucket],
            Self::PatBlocks(_) => &[Algorithm::Pat],
            // Rings are chains in Broadcast and Reduce.
            Self::Pieces(_) => &[Algorithm::Tree, Algorithm::Ring, Algorithm::BidirRing],
            Self::Overlap(_) => &[Algorithm::Hierarchical],
            Self::Channels(_) => &[
                Algorithm::Ring,
                Algorithm::Tree,
                Algorithm::SendRecvRing,
                Algorithm::Hierarchical,
            ],
            Self::Spread(_) => &[],
        }
    }
}

/// A value to be read.
#[derive(Clone, Copy)]
struct Choice<'a> {
    key: &'static str,
    value: &'a str,
}

impl Choice<'_> {
    fn of<T: Clone>(self, names: &[(&str, T)]) -> Result<T, Error> {
        let found = names.iter().find(|(name, _)| *name == self.value);
        let possible = || names.iter().map(|(name, _)| format!("`{name}`"));
        found
            .map(|(_, form)| form.clone())
            .ok_or_else(|| self.is_none_of(&possible().collect::<Vec<_>>()))
    }

    /// Reads a name, or a number from 1 on.
    fn number_or<T: Clone>(
        self,
        names: &[(&str, T)],
        number: &str,
        of_number: impl FnOnce(NonZeroU32) -> Option<T>,
    ) -> Result<T, Error> {
        if let Some(form) = self.value.parse().ok().and_then(of_number) {
            return Ok(form);
        }
        self.of(names).map_err(|_| {
            let mut possible: Vec<String> =
                names.iter().map(|(name, _)| format!("`{name}`")).collect();
            possible.push(format!("{number} from 1 on"));
            self.is_none_of(&possible)
        })
    }

    /// Reads a number of pieces, the size of each, or `best`.
    fn pieces(self) -> Result<Pieces, Error> {
        if let Ok(count) = self.value.parse() {
            return Ok(Pieces::Count(count));
        }
        match self.value.parse::<Bytes>() {
            Ok(size) if size.get() > 0 => Ok(Pieces::Of(size)),
            _ => self.of(&[("best", Pieces::Best)]).map_err(|_| {
                self.is_none_of(&[
                    "`best`".to_owned(),
                    "a number from 1 on".to_owned(),
                    "the size of each, as `512K`".to_owned(),
                ])
            }),
        }
    }

    /// Reads `4x4`.
    fn torus(self) -> Result<Vec<u32>, Error> {
        let dimensions: Option<Vec<u32>> = self
            .value
            .split('x')
            .map(|dimension| dimension.parse().ok().filter(|d| *d >= 2))
            .collect();
        dimensions.ok_or_else(|| self.is_none_of(&["dimensions of 2 or more, as `4x4`".to_owned()]))
    }

    fn is_none_of(self, possible: &[String]) -> Error {
        let Self { key, value } = self;
        Error::Usage {
            message: format!("unknown value `{value}` of `{key}`"),
            hint: Some(format!("it is {}", possible.join(", or "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_system::preset;

    fn said(text: &str) -> String {
        match Variant::parse(&[text]) {
            Err(Error::Usage { message, hint }) => match hint {
                Some(hint) => format!("{message}; {hint}"),
                None => message,
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_setting_changes_what_is_assumed() {
        let topology = preset("h100-x8").unwrap().resolve().unwrap();
        let own = Parameters::of(&topology);
        for text in [
            "trees=single",
            "fold=halves",
            "distance=halving",
            "gather=doubling",
            "second-shot=multicast",
            "bidir=split-data",
            "partner=xor",
            "torus=4x2",
            "torus_ports=one",
            "pat_blocks=2",
            "pieces=4",
            "pieces=1M",
            "pieces=best",
            "overlap=full",
            "overlap=4",
            "channels=one",
            "spread=preferred",
        ] {
            let variant = Variant::parse(&[text]).unwrap();
            let mut changed = own.clone();
            variant.apply(&mut changed);
            assert_ne!(changed, own, "{text}");
            let (key, value) = variant.settings().next().unwrap();
            assert_eq!(
                format!("{key}={value}"),
                text.to_lowercase().replace('-', "_")
            );
        }
    }

    #[test]
    fn errors_say_what_is_possible() {
        assert_eq!(
            said("folds=halves"),
            "unknown variant `folds`; did you mean `fold`?"
        );
        assert_eq!(
            said("fold=third"),
            "unknown value `third` of `fold`; it is `whole`, or `halves`"
        );
        assert_eq!(
            said("pieces=0"),
            "unknown value `0` of `pieces`; it is `best`, or a number from 1 on, or the size of \
             each, as `512K`"
        );
        assert!(said("torus=4x").contains("as `4x4`"));
        assert!(said("single").contains("NAME=VALUE"));
        assert_eq!(said("fold=whole,fold=halves"), "`fold` is chosen twice");
        let variant = Variant::parse(&["fold=halves"]).unwrap();
        assert!(variant.check(&[Algorithm::HalvingDoubling]).is_ok());
        let error = variant.check(&[Algorithm::Ring]).unwrap_err();
        assert!(error.to_string().contains("says nothing about `ring`"));
    }
}
