//! An account of every link and rank of every run, as CSV: where bytes went and who waited.

use super::{algorithm_name, us};
use crate::analysis::csv::{number, push_row, quoted};
use tier6_collective::Algorithm;
use tier6_g5::{ChipAccount, LinkAccount};
use tier6_units::{Bytes, SimTime};

/// The accounts of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct CallStatistics {
    /// The algorithm; `None` for a schedule from a file that is none of ours.
    pub algorithm: Option<Algorithm>,
    /// M.
    pub bytes: Bytes,
    /// Time of the hardware, of which a link's busy time is a share.
    pub hardware: SimTime,
    /// When the run stopped, if it did: what follows is until then.
    pub stopped: Option<SimTime>,
    /// Links that carried something, or lost it.
    pub links: Vec<LinkStatistics>,
    /// Ranks of each channel.
    pub ranks: Vec<RankStatistics>,
}

/// What a link carried.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkStatistics {
    /// `chip0 to nvswitch3`.
    pub name: String,
    /// Its class.
    pub class: String,
    /// The account.
    pub account: LinkAccount,
}

/// What a rank did.
#[derive(Debug, Clone, PartialEq)]
pub struct RankStatistics {
    /// The call beside that it is of; `None` for the measured one.
    pub job: Option<String>,
    /// The rank.
    pub rank: u32,
    /// The channel.
    pub channel: u32,
    /// The account.
    pub account: ChipAccount,
}

/// Returns one row per link and one per rank and channel of every run, with a header line. A field
/// that a kind of row does not have is empty.
pub fn statistics_csv(calls: &[CallStatistics]) -> String {
    let mut out = "algorithm,bytes,kind,name,class,channel,wire_bytes,payload_bytes,busy_us,\
        utilisation,peak_queue_bytes,marked,lost,resent,paused_us,credit_stall_us,sending_us,\
        reducing_us,waiting_for_credit_us,waiting_for_peer_us,done_us,job,stopped_us\n"
        .to_owned();
    for call in calls {
        for link in &call.links {
            push_row(
                &mut out,
                link.fields(call)
                    .iter()
                    .chain(&[String::new(), stopped(call)]),
            );
        }
        for rank in &call.ranks {
            let job = rank.job.as_deref().unwrap_or("call");
            push_row(
                &mut out,
                rank.fields(call)
                    .iter()
                    .chain(&[quoted(job), stopped(call)]),
            );
        }
    }
    out
}

/// Columns of links, of which a rank has none, and the other way round.
const LINK_COLUMNS: usize = 10;
const RANK_COLUMNS: usize = 5;

/// When a run stopped; nothing for one that ended.
fn stopped(call: &CallStatistics) -> String {
    call.stopped.map_or_else(String::new, time)
}

fn time(span: SimTime) -> String {
    number(Some(us(span)))
}

impl LinkStatistics {
    fn fields(&self, call: &CallStatistics) -> Vec<String> {
        let account = &self.account;
        let whole = us(call.hardware);
        let share = (whole > 0.0).then(|| us(account.busy) / whole);
        let mut fields = vec![
            algorithm_name(call.algorithm).to_owned(),
            call.bytes.get().to_string(),
            "link".to_owned(),
            quoted(&self.name),
            quoted(&self.class),
            String::new(),
            account.wire_bytes.to_string(),
            account.payload_bytes.to_string(),
            time(account.busy),
            number(share),
            account.peak_queue.to_string(),
            account.marked.to_string(),
            account.lost.to_string(),
            account.resent.to_string(),
            time(account.paused),
            time(account.credit_stall),
        ];
        fields.extend(vec![String::new(); RANK_COLUMNS]);
        fields
    }
}

impl RankStatistics {
    fn fields(&self, call: &CallStatistics) -> Vec<String> {
        let account = &self.account;
        let mut fields = vec![
            algorithm_name(call.algorithm).to_owned(),
            call.bytes.get().to_string(),
            "rank".to_owned(),
            self.rank.to_string(),
            String::new(),
            self.channel.to_string(),
        ];
        fields.extend(vec![String::new(); LINK_COLUMNS]);
        fields.extend(
            [
                account.sending,
                account.reducing,
                account.waiting_for_credit,
                account.waiting_for_peer,
                account.done,
            ]
            .map(time),
        );
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_every_column() {
        let call = CallStatistics {
            algorithm: Some(Algorithm::Ring),
            bytes: Bytes::new(1024),
            hardware: SimTime::from_ps(4_000_000),
            stopped: Some(SimTime::from_ps(4_000_000)),
            links: vec![LinkStatistics {
                name: "leaf 0 to spine, 1".to_owned(),
                class: "ib".to_owned(),
                account: LinkAccount {
                    busy: SimTime::from_ps(1_000_000),
                    payload_bytes: 7,
                    ..LinkAccount::default()
                },
            }],
            ranks: vec![RankStatistics {
                job: Some("beside 1".to_owned()),
                rank: 3,
                channel: 1,
                account: ChipAccount {
                    sending: SimTime::from_ps(500_000),
                    ..ChipAccount::default()
                },
            }],
        };
        let csv = statistics_csv(&[call]);
        let mut lines = csv.lines();
        let columns = lines.next().unwrap().split(',').count();
        let link = lines.next().unwrap();
        assert!(
            link.starts_with("ring,1024,link,\"leaf 0 to spine, 1\",ib,,0,7,1,0.25,"),
            "{link}"
        );
        assert_eq!(link.split(',').count(), columns + 1);
        let rank = lines.next().unwrap();
        assert!(rank.starts_with("ring,1024,rank,3,,1,"), "{rank}");
        assert!(rank.ends_with(",0.5,0,0,0,0,beside 1,4"), "{rank}");
        assert_eq!(rank.split(',').count(), columns);
    }
}
