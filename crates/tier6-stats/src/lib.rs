//! Least squares, percentiles, change points, tests of difference: plain numbers, no domain words.
//!
//! Every function takes slices of `f64` and returns `None` where the answer does not exist: no
//! data, one point for a spread, a value that is not finite, a line through one abscissa. None
//! panics, none reads a clock or a random source; what needs chance takes an [`Rng`].
//!
//! ```
//! use tier6_stats::{Weighting, accuracy, fit_line};
//! let (x, y) = ([1.0, 2.0, 4.0], [3.0, 5.0, 9.0]);
//! let line = fit_line(&x, &y, Weighting::Absolute).unwrap();
//! assert!((line.intercept - 1.0).abs() < 1e-12 && (line.slope - 2.0).abs() < 1e-12);
//! ```

mod accuracy;
mod benjamini_hochberg;
mod bounded_fit;
mod change_points;
mod distribution;
mod line;
mod linear;
mod orthonormal;
mod relative_center;
mod rng;
mod singular;
mod summary;
mod two_sample;

pub use accuracy::{Accuracy, accuracy};
pub use benjamini_hochberg::{Decision, benjamini_hochberg};
pub use bounded_fit::{BoundedFit, Residuals, fit_bounded, fit_bounded_smooth};
pub use change_points::{SegmentRules, Segmentation, segment_lines};
pub use distribution::{f_p_value, normal_p_value, t_p_value, t_quantile};
pub use line::{Bound, Interval, LineFit, Weighting, fit_line, fit_line_non_negative};
pub use linear::solve_symmetric;
pub use orthonormal::{OrthonormalBasis, Span};
pub use relative_center::relative_center;
pub use rng::Rng;
pub use singular::SingularValues;
pub use summary::{cv, mean, median, percentile, sample_sd};
pub use two_sample::{Difference, SampleMoments, mann_whitney, welch};
