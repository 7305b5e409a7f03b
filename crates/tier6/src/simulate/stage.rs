//! Where the calls of a request run: the system, the measured call's chips, the calls beside.

use super::SimulateRequest;
use super::beside::{Asked, Beside};
use super::chips::{Placed, read_chips, with_chip};
use crate::Error;
use crate::predict::Site;
use tier6_fit::chips_of;

/// Where calls run.
pub(super) struct Stage {
    /// The measured call.
    pub(super) placed: Placed,
    pub(super) beside: Vec<Beside>,
}

impl Stage {
    /// Puts the ranks of a request on a system; `ranks` when their number follows from elsewhere.
    ///
    /// # Errors
    ///
    /// When they do not fit there, and when a call beside cannot be read or cannot run.
    pub(super) fn new(request: &SimulateRequest<'_>, ranks: Option<u32>) -> Result<Self, Error> {
        let texts = request.beside.iter();
        let asked = texts.map(|text| Asked::read(text));
        let asked: Vec<Asked> = asked.collect::<Result<_, _>>()?;
        let named = request.chips.map(|text| read_chips("--chips", text));
        let named = named.transpose()?;
        // Named chips say how many ranks there are.
        let ranks = ranks.filter(|_| named.is_none());
        let site = Site::of(request.system, ranks, request.nodes)?;
        let besides = asked.iter().filter_map(|one| one.chips.as_ref()).flatten();
        let last = named.iter().flatten().chain(besides).max();
        let site = match last {
            Some(last) => with_chip(site, *last, request.nodes)?,
            None => site,
        };
        let placed = match named {
            Some(chips) => Placed::on(site, chips),
            None => as_counted(site),
        };
        let beside = Beside::place(asked, &placed.site, &placed.chips, request.grain)?;
        Ok(Self { placed, beside })
    }
}

/// Ranks on the first chips of the nodes, as the site counts them.
fn as_counted(site: Site) -> Placed {
    let laid = site.placement;
    let chips = chips_of(&site.topology, laid, site.ranks);
    Placed { site, chips, laid }
}
