//! Element types and reduction operators.

use std::fmt;
use std::str::FromStr;

/// The type of a message's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are the field's own terms")]
pub enum DataType {
    Int8,
    Uint8,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Half,
    Bfloat16,
    Float,
    Double,
    Fp8E4m3,
    Fp8E5m2,
}

impl DataType {
    /// Every data type.
    pub const ALL: [Self; 12] = [
        Self::Int8,
        Self::Uint8,
        Self::Int32,
        Self::Uint32,
        Self::Int64,
        Self::Uint64,
        Self::Half,
        Self::Bfloat16,
        Self::Float,
        Self::Double,
        Self::Fp8E4m3,
        Self::Fp8E5m2,
    ];

    /// Returns nccl-tests' name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Uint8 => "uint8",
            Self::Int32 => "int32",
            Self::Uint32 => "uint32",
            Self::Int64 => "int64",
            Self::Uint64 => "uint64",
            Self::Half => "half",
            Self::Bfloat16 => "bfloat16",
            Self::Float => "float",
            Self::Double => "double",
            Self::Fp8E4m3 => "f8e4m3",
            Self::Fp8E5m2 => "f8e5m2",
        }
    }

    /// Returns the size of one element in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Int8 | Self::Uint8 | Self::Fp8E4m3 | Self::Fp8E5m2 => 1,
            Self::Half | Self::Bfloat16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float => 4,
            Self::Int64 | Self::Uint64 | Self::Double => 8,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DataType {
    type Err = ();

    /// Reads nccl-tests' and rccl-tests' names, and the common short ones.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "int8" | "char" => Ok(Self::Int8),
            "uint8" => Ok(Self::Uint8),
            "int32" | "int" => Ok(Self::Int32),
            "uint32" => Ok(Self::Uint32),
            "int64" => Ok(Self::Int64),
            "uint64" => Ok(Self::Uint64),
            "half" | "float16" | "f16" | "fp16" => Ok(Self::Half),
            "bfloat16" | "bf16" => Ok(Self::Bfloat16),
            "float" | "float32" | "f32" | "fp32" => Ok(Self::Float),
            "double" | "float64" | "f64" => Ok(Self::Double),
            "f8e4m3" | "fp8_e4m3" | "float8_e4m3" => Ok(Self::Fp8E4m3),
            "f8e5m2" | "fp8_e5m2" | "float8_e5m2" => Ok(Self::Fp8E5m2),
            _ => Err(()),
        }
    }
}

/// The operator of a reducing collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are the field's own terms")]
pub enum RedOp {
    Sum,
    Prod,
    Max,
    Min,
    Avg,
    /// nccl-tests' `mulsum`: a sum of values that were multiplied first.
    PreMulSum,
}

impl RedOp {
    /// Returns nccl-tests' name of the operator.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Max => "max",
            Self::Min => "min",
            Self::Avg => "avg",
            Self::PreMulSum => "mulsum",
        }
    }
}

impl fmt::Display for RedOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for RedOp {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "sum" => Ok(Self::Sum),
            "prod" => Ok(Self::Prod),
            "max" => Ok(Self::Max),
            "min" => Ok(Self::Min),
            "avg" => Ok(Self::Avg),
            "mulsum" => Ok(Self::PreMulSum),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_read_back() {
        for datatype in DataType::ALL {
            assert_eq!(datatype.name().parse(), Ok(datatype));
        }
        assert_eq!("sum".parse(), Ok(RedOp::Sum));
        assert_eq!("none".parse::<RedOp>(), Err(()));
    }
}
