//! The CSV that rccl-tests' reporter writes (`-Z csv -x FILE`).
//!
//! `numCycle,collective,[nodes,ranks,ranksPerNode,gpusPerRank | gpus],size,type,redop,inplace,
//! time,algbw,busbw,#wrong`, one row per placement, times in us. Builds with MPI before the fix
//! of the header left `nodes` out of it but not out of the rows.

use super::csv::{dataset, find_layout, fit_to_header, read_sheet};
use super::sheet::{Sheet, TimeUnit, bind, require_sweep};
use super::{ReadError, ReadOptions};
use crate::{Dataset, Dialect, Parsed, Warning, WarningCode};

/// Says whether a text starts with the reporter's header.
pub(crate) fn looks_like(head: &str) -> bool {
    find_layout(head).is_some_and(|layout| {
        ["size", "inplace", "time", "busbw"].iter().all(|wanted| {
            layout
                .header
                .iter()
                .any(|name| name.eq_ignore_ascii_case(wanted))
        })
    })
}

/// Reads the reporter's CSV.
///
/// # Errors
///
/// When the header lacks sizes or measurements.
pub(crate) fn read(text: &str, options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    let mut warnings = Vec::new();
    let layout = find_layout(text).ok_or(ReadError::NotRecognised {
        line: Some(text.lines().count() as u64),
    })?;
    let mut sheet = read_sheet(text, &layout, &mut warnings);
    repair_header(&mut sheet, &mut warnings);
    fit_to_header(&mut sheet, &mut warnings);
    let bound = bind(&sheet.header);
    require_sweep(&sheet, &bound)?;
    let time_unit = TimeUnit::Documented;
    Ok(dataset(
        Dialect::RcclCsv,
        sheet,
        &bound,
        time_unit,
        options,
        warnings,
    ))
}

/// Puts `nodes` back before `ranks` when every row has one cell more than the header.
fn repair_header(sheet: &mut Sheet, warnings: &mut Vec<Warning>) {
    let width = sheet.header.len();
    let is = |name: &String, wanted: &str| name.eq_ignore_ascii_case(wanted);
    let lacks_nodes = !sheet.header.iter().any(|name| is(name, "nodes"));
    let ranks_at = sheet.header.iter().position(|name| is(name, "ranks"));
    let all_longer =
        !sheet.rows.is_empty() && sheet.rows.iter().all(|row| row.cells.len() == width + 1);
    if let (Some(at), true, true) = (ranks_at, lacks_nodes, all_longer) {
        sheet.header.insert(at, "nodes".to_owned());
        warnings.push(Warning {
            code: WarningCode::Repaired,
            line: Some(sheet.header_line),
            message: "the header lacks `nodes`, which the rows have; put back".to_owned(),
        });
    }
}
