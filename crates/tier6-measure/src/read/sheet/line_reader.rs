//! One line of a sheet into rows: what each cell says under its column's meaning.

use super::cells::{Decimal, DecimalUnits, number, size};
use super::columns::{Column, CvUnit, Rate};
use super::{Bound, Sheet, SheetRow};
use crate::read::consistency::Printed;
use crate::read::rows::{Row, Signature};
use crate::read::{ReadOptions, command};
use crate::{Placement, PublishedStats, Warning, WarningCode, Wrong};
use std::borrow::Cow;
use tier6_collective::Path;
use tier6_units::Micros;

/// A row with what makes its run different from others.
pub(super) struct Keyed {
    pub row: Row,
    pub command: Option<String>,
    pub settings: Vec<(String, String)>,
    /// The value of a column `bandwidth`, not yet placed.
    pub bandwidth: Option<Printed>,
}

/// What is decided once for all rows.
pub(super) struct LineReader<'a> {
    bound: &'a Bound,
    header: &'a [String],
    decimal: Decimal,
    size_at: usize,
    size_unit: Option<&'static str>,
    size_units: DecimalUnits,
    options: &'a ReadOptions,
}

impl<'a> LineReader<'a> {
    pub(super) fn new(
        sheet: &'a Sheet,
        bound: &'a Bound,
        options: &'a ReadOptions,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let all_cells = sheet.rows.iter().flat_map(|row| &row.cells);
        let size_at = bound.size().unwrap_or(0);
        let size_unit = match bound.columns.get(size_at) {
            Some(Some(Column::Size(unit))) => *unit,
            _ => None,
        };
        let sizes: Vec<Cow<'_, str>> = sheet
            .rows
            .iter()
            .map(|row| with_unit(&row.cells[size_at], size_unit))
            .collect();
        let size_units = DecimalUnits::of(sizes.iter().map(AsRef::as_ref));
        if size_units == DecimalUnits::Binary {
            let example = sizes
                .iter()
                .find(|size| size.to_ascii_uppercase().ends_with("KB"));
            let example = example.or(sizes.first()).map_or("", AsRef::as_ref);
            warnings.push(Warning {
                code: WarningCode::Note,
                line: Some(sheet.header_line),
                message: format!(
                    "sizes such as `{example}` are read in units of 1024, since all are powers of two"
                ),
            });
        }
        Self {
            bound,
            header: &sheet.header,
            decimal: Decimal::of(all_cells),
            size_at,
            size_unit,
            size_units,
            options,
        }
    }

    /// Reads one line into a row per placement that has a value.
    pub(super) fn read(&self, line: &SheetRow, keyed: &mut Vec<Keyed>) -> Result<(), String> {
        let cell = &line.cells[self.size_at];
        let bytes = size(
            &with_unit(cell, self.size_unit),
            self.decimal,
            self.size_units,
        )
        .ok_or_else(|| format!("`{cell}` is no size"))?;
        let (signature, command) = self.signature(line);
        let path = self.path(line);
        for placement in [Placement::OutOfPlace, Placement::InPlace] {
            let median = self.median(line, placement);
            let row = Row {
                line: line.line,
                signature,
                placement,
                bytes,
                count: self
                    .text(line, Column::Count)
                    .and_then(|text| text.parse().ok()),
                time: median.or_else(|| self.time(line, placement)),
                algbw: self.rate(line, placement, |column| match column {
                    Column::Algbw(placement, rate) => Some((placement, rate)),
                    _ => None,
                }),
                busbw: self.rate(line, placement, |column| match column {
                    Column::Busbw(placement, rate) => Some((placement, rate)),
                    _ => None,
                }),
                wrong: self.wrong(line, placement),
                iterations: Vec::new(),
                published: median.map(|median| self.published(line, median)),
                path,
                tuner: self
                    .scaled(line, |column| match column {
                        Column::Tuner(scale) => Some(scale),
                        _ => None,
                    })
                    .map(|time| Micros::new(time.value)),
            };
            let bandwidth = self
                .bandwidth(line)
                .filter(|_| placement == self.default_placement(line));
            if row.has_value() || bandwidth.is_some() {
                keyed.push(Keyed {
                    row,
                    command: command.clone(),
                    settings: self.settings(line, path),
                    bandwidth,
                });
            }
        }
        Ok(())
    }

    /// The cell of a column, unless it is empty.
    fn text<'b>(&self, line: &'b SheetRow, wanted: Column) -> Option<&'b str> {
        self.text_of(line, |column| column == wanted)
    }

    fn text_of<'b>(&self, line: &'b SheetRow, is: impl Fn(Column) -> bool) -> Option<&'b str> {
        let at = self.bound.find(is)?;
        let text = line.cells.get(at)?.trim();
        (!text.is_empty()).then_some(text)
    }

    fn signature(&self, line: &SheetRow) -> (Signature, Option<String>) {
        let whole = |column| -> Option<u32> { self.text(line, column)?.parse().ok() };
        let command = self.text(line, Column::Command).map(str::to_owned);
        let collective = self
            .text(line, Column::Collective)
            .and_then(|text| text.parse().ok());
        let of_command = || command.as_deref().and_then(command::collective);
        let per_rank = whole(Column::GpusPerRank)
            .filter(|gpus| *gpus > 0)
            .unwrap_or(1);
        let lower = |column| self.text(line, column).map(str::to_ascii_lowercase);
        let signature = Signature {
            collective: collective.or_else(of_command),
            ranks: whole(Column::Ranks)
                .filter(|ranks| *ranks > 0)
                .and_then(|ranks| ranks.checked_mul(per_rank))
                .or(self.options.ranks),
            nodes: whole(Column::Nodes).filter(|nodes| *nodes > 0),
            datatype: lower(Column::Datatype).and_then(|text| text.parse().ok()),
            redop: lower(Column::RedOp).and_then(|text| text.parse().ok()),
            root: whole(Column::Root),
        };
        (signature, command)
    }

    /// Where a value goes whose header names no placement.
    fn default_placement(&self, line: &SheetRow) -> Placement {
        match self.text(line, Column::InPlace) {
            Some("1" | "true" | "True" | "yes" | "in_place" | "in-place") => Placement::InPlace,
            _ => Placement::OutOfPlace,
        }
    }

    fn is_here(&self, line: &SheetRow, stated: Option<Placement>, wanted: Placement) -> bool {
        stated.unwrap_or_else(|| self.default_placement(line)) == wanted
    }

    fn time(&self, line: &SheetRow, placement: Placement) -> Option<Printed> {
        self.scaled(line, |column| match column {
            Column::Time(stated, scale) if self.is_here(line, stated, placement) => Some(scale),
            _ => None,
        })
        .filter(|time| time.value > 0.0)
    }

    /// Reads a time; the cell's own unit goes before the header's.
    fn scaled(
        &self,
        line: &SheetRow,
        scale_of: impl Fn(Column) -> Option<Option<f64>>,
    ) -> Option<Printed> {
        let at = self.bound.find(|column| scale_of(column).is_some())?;
        let of_header = self.bound.columns[at].and_then(scale_of)?.unwrap_or(1.0);
        let number = number(&line.cells[at], self.decimal)?;
        let scale = match number.suffix {
            "" => of_header,
            "us" | "µs" | "μs" => 1.0,
            "ms" => 1e3,
            "ns" => 1e-3,
            "s" => 1e6,
            _ => return None,
        };
        Some(number.printed.scaled(scale))
    }

    fn rate(
        &self,
        line: &SheetRow,
        placement: Placement,
        rate_of: impl Fn(Column) -> Option<(Option<Placement>, Rate)>,
    ) -> Option<Printed> {
        let at = self.bound.find(|column| {
            rate_of(column).is_some_and(|(stated, _)| self.is_here(line, stated, placement))
        })?;
        let (_, rate) = self.bound.columns[at].and_then(rate_of)?;
        let scale = match rate {
            Rate::Known(scale) => scale,
            // nccl-tests' names stand for nccl-tests' unit.
            Rate::Ambiguous => 1.0,
        };
        Some(number(&line.cells[at], self.decimal)?.printed.scaled(scale))
    }

    fn bandwidth(&self, line: &SheetRow) -> Option<Printed> {
        let text = self.text_of(line, |column| matches!(column, Column::Bandwidth(_)))?;
        Some(number(text, self.decimal)?.printed)
    }

    fn wrong(&self, line: &SheetRow, placement: Placement) -> Wrong {
        let text = self.text_of(line, |column| {
            matches!(column, Column::Wrong(stated) if self.is_here(line, stated, placement))
        });
        text.map_or(Wrong::NotChecked, wrong)
    }

    fn median(&self, line: &SheetRow, placement: Placement) -> Option<Printed> {
        self.scaled(line, |column| match column {
            Column::Median(scale) => Some(scale),
            _ => None,
        })
        .filter(|median| median.value > 0.0 && placement == self.default_placement(line))
    }

    fn published(&self, line: &SheetRow, median: Printed) -> PublishedStats {
        let p95 = self.scaled(line, |column| match column {
            Column::P95(scale) => Some(scale),
            _ => None,
        });
        PublishedStats {
            samples: None,
            median: Micros::new(median.value),
            p95: p95.map(|time| Micros::new(time.value)),
            cv_pct: self.cv_pct(line),
        }
    }

    fn cv_pct(&self, line: &SheetRow) -> Option<f64> {
        let at = self.bound.find(|column| matches!(column, Column::Cv(_)))?;
        let number = number(&line.cells[at], self.decimal)?;
        match (number.suffix, self.bound.columns[at]?) {
            ("%", _) | ("", Column::Cv(CvUnit::Percent)) => Some(number.printed.value),
            ("", Column::Cv(CvUnit::Fraction)) => Some(number.printed.value * 100.0),
            _ => None,
        }
    }

    fn path(&self, line: &SheetRow) -> Option<Path> {
        let (algorithm, protocol) = match self.text(line, Column::Selection) {
            Some(selection) => selection.split_once(['+', '/', ' '])?,
            None => (
                self.text(line, Column::Algorithm)?,
                self.text(line, Column::Protocol)?,
            ),
        };
        Some(Path {
            algorithm: algorithm.parse().ok()?,
            protocol: protocol.parse().ok()?,
        })
    }

    /// What else was set for this row; half a path counts as a setting.
    fn settings(&self, line: &SheetRow, path: Option<Path>) -> Vec<(String, String)> {
        let columns = self.header.iter().zip(&self.bound.columns).zip(&line.cells);
        let set = columns.filter(|((_, column), cell)| {
            let is_setting = match column {
                Some(Column::Setting) => true,
                Some(Column::Algorithm | Column::Protocol) => path.is_none(),
                _ => false,
            };
            is_setting && !cell.trim().is_empty()
        });
        set.map(|((name, _), cell)| (name.clone(), cell.trim().to_owned()))
            .collect()
    }
}

/// Appends the header's unit to a size that has none of its own.
fn with_unit<'a>(cell: &'a str, unit: Option<&str>) -> Cow<'a, str> {
    match unit {
        Some(unit) if !cell.contains(|c: char| c.is_ascii_alphabetic()) => {
            Cow::Owned(format!("{cell}{unit}"))
        }
        _ => Cow::Borrowed(cell),
    }
}

/// Reads a correctness cell: a whole number counts elements, a fraction is the largest error of
/// nccl-tests before 2.13.
pub(crate) fn wrong(text: &str) -> Wrong {
    if let Ok(elements) = text.parse::<u64>() {
        return Wrong::Elements(elements);
    }
    match text.parse::<f64>() {
        // `%g` prints a million elements as `1e+06`.
        Ok(value) if value >= 1.0 && value.fract() == 0.0 && value < 1e18 =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole and in range, checked above"
            )]
            Wrong::Elements(value as u64)
        }
        Ok(value) => Wrong::LargestError(value),
        Err(_) => Wrong::NotChecked,
    }
}
