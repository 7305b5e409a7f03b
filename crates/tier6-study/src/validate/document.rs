//! What the source documents claim for sets that are also scored here. Their parameters were
//! fitted on the points that they were scored on, so these are in-sample figures.

use std::fmt;

/// A claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DocumentFigure {
    /// The set.
    pub id: &'static str,
    /// The engine of the document.
    pub engine: DocumentEngine,
    /// The sizes that it covers.
    pub band: DocumentBand,
    /// Its RMSPE in percent.
    pub rmspe_pct: f64,
}

/// An engine of the source documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentEngine {
    /// Closed forms.
    Math,
    /// The instruction-level simulation.
    G5,
}

/// The sizes that a claim covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentBand {
    /// Every size of the document's set.
    Overall,
    /// Above 64 MiB.
    Large,
}

impl DocumentEngine {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Math => "math",
            Self::G5 => "g5",
        }
    }
}

impl DocumentBand {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overall => "overall",
            Self::Large => "large",
        }
    }
}

impl fmt::Display for DocumentFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (engine, band) = (self.engine.name(), self.band.name());
        write!(f, "{engine} {band} {:.1} %", self.rmspe_pct)
    }
}

const fn figure(
    id: &'static str,
    engine: DocumentEngine,
    band: DocumentBand,
    rmspe_pct: f64,
) -> DocumentFigure {
    DocumentFigure {
        id,
        engine,
        band,
        rmspe_pct,
    }
}

/// Source document 003: its table of single-tier systems, its table of two-tier systems, and its
/// comparison of the two engines.
static FIGURES: [DocumentFigure; 8] = {
    use DocumentBand::{Large, Overall};
    use DocumentEngine::{G5, Math};
    [
        figure("s3_h200_ar_8gpu", Math, Overall, 9.0),
        figure("s3_h200_ar_8gpu", Math, Large, 5.3),
        figure("s3_h200_ar_8gpu", G5, Large, 10.4),
        figure("s3_a100_ar_8gpu", Math, Overall, 8.0),
        figure("s3_a100_ar_8gpu", Math, Large, 4.2),
        figure("s3_a100_ar_8gpu", G5, Large, 6.1),
        figure("gb200_ar_72gpu_nvl72_coreweave", Math, Overall, 2.0),
        figure("h100_ar_16gpu_2node_roce_oci", Math, Overall, 5.4),
    ]
};

/// Returns what the source documents claim for a set.
pub fn document_figures(id: &str) -> impl Iterator<Item = &'static DocumentFigure> {
    FIGURES.iter().filter(move |figure| figure.id == id)
}
