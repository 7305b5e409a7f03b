//! A validation as CSV: one row per set and engine, errors in percent.

use super::bands;
use crate::analysis::csv::{number, push_row, quoted, text};
use tier6_study::{FromRanks, ValidationReport};

/// Returns one row per set and engine as CSV with a header line; errors in percent.
pub fn validation_csv(report: &ValidationReport) -> String {
    let mut out = "holdout,id,points,tier,engine,\
        in_sample_small,in_sample_medium,in_sample_large,in_sample_overall,\
        held_out_small,held_out_medium,held_out_large,held_out_overall,\
        placement_noise_pct,band_coverage_pct,ranks,scale\n"
        .to_owned();
    let holdout = report.holdout.to_string();
    for set in &report.sets {
        let ranks = set.from_ranks.as_ref();
        for score in &set.scores {
            let mut fields = vec![
                quoted(&holdout),
                quoted(&set.id),
                set.points.to_string(),
                text(set.tier),
                score.engine.name().to_owned(),
            ];
            for errors in [score.in_sample, score.held_out] {
                fields.extend(bands(&errors).map(number));
            }
            fields.extend([
                number(set.placement_noise_pct),
                number(score.interval.map(|interval| interval.inside_pct)),
                text(ranks.map(|from| from.ranks)),
                number(ranks.map(FromRanks::scale)),
            ]);
            push_row(&mut out, fields.iter());
        }
    }
    out
}
