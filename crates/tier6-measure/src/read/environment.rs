//! Which environment variables a dataset keeps.
//!
//! nccl-tests' JSON holds the whole environment of the process, with whatever tokens are in it.
//! A reader keeps only what can change a measurement, and nothing whose name smells of a secret.

/// Beginnings of the names that are kept.
const KEPT: [&str; 14] = [
    "NCCL_",
    "RCCL_",
    "MSCCL",
    "CUDA_",
    "HIP_",
    "ROCR_",
    "HSA_",
    "UCX_",
    "UCC_",
    "FI_",
    "OMPI_MCA_",
    "SLURM_JOB_",
    "SLURM_NNODES",
    "SLURM_NTASKS",
];

/// Parts of names that are never kept.
const SECRET: [&str; 6] = ["TOKEN", "SECRET", "KEY", "PASS", "CRED", "AUTH"];

/// Returns `NAME=value` as a pair when the name is on the allow-list.
pub(crate) fn kept(entry: &str) -> Option<(String, String)> {
    let (name, value) = entry.split_once('=')?;
    let upper = name.to_ascii_uppercase();
    let is_kept = KEPT.iter().any(|start| upper.starts_with(start))
        && !SECRET.iter().any(|part| upper.contains(part));
    is_kept.then(|| (name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_a_measurement_is_kept() {
        let pair = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(kept("NCCL_ALGO=Ring"), pair("NCCL_ALGO", "Ring"));
        assert_eq!(
            kept("CUDA_VISIBLE_DEVICES=0,1"),
            pair("CUDA_VISIBLE_DEVICES", "0,1")
        );
        assert_eq!(kept("NCCL_X=a=b"), pair("NCCL_X", "a=b"));
        for entry in [
            "API_TOKEN=abc",
            "HOME=/home/me",
            "NCCL_AUTH_TOKEN=abc",
            "UCX_PASSWORD=abc",
            "SLURM_JOB_SECRET=abc",
            "NCCL_ALGO",
            "",
        ] {
            assert_eq!(kept(entry), None, "{entry}");
        }
    }
}
