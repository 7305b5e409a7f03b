//! A `[[tier]]` table. Which keys it may have depends on its fabric; a key of another fabric
//! is refused, since it would silently do nothing.

use super::table::{Table, Value};
use crate::spec::{
    Attach, CrossRail, Direction, DragonflySpec, EdgeSpec, FabricSpec, FatTreeSpec, NicSpec,
    PcieTreeSpec, TierSpec, VertexSpec, Wiring,
};
use crate::{SystemError, SystemProblem};

/// Keys of every tier.
const COMMON: [&str; 8] = [
    "name",
    "count",
    "fabric",
    "link",
    "lanes",
    "nics",
    "host_link",
    "attach",
];

/// Keys of each fabric.
const FABRICS: [(&str, &[&str]); 8] = [
    ("ring", &["orders"]),
    ("full_mesh", &[]),
    ("torus", &["dims"]),
    ("crossbar", &["switch", "planes"]),
    (
        "fat_tree",
        &[
            "switch",
            "spine",
            "down",
            "spines",
            "oversubscription",
            "wiring",
            "cross_rail",
        ],
    ),
    (
        "dragonfly",
        &[
            "switch",
            "routers",
            "endpoints",
            "global",
            "local_link",
            "global_link",
        ],
    ),
    (
        "pcie_tree",
        &["switch", "per_switch", "root", "sockets", "socket_link"],
    ),
    ("graph", &["vertices", "edges"]),
];

pub(super) fn read_tier(value: &Value<'_>) -> Result<TierSpec, SystemError> {
    let mut known: Vec<&str> = COMMON.to_vec();
    known.extend(FABRICS.iter().flat_map(|(_, keys)| keys.iter().copied()));
    let table = value.table(&known)?;
    let names = FABRICS.map(|(name, keys)| (name, (name, keys)));
    let (fabric, keys) = table.need("fabric")?.choice("fabric", &names)?;
    for key in table.keys() {
        if !COMMON.contains(&key.value.as_str()) && !keys.contains(&key.value.as_str()) {
            let key_name = key.value;
            let problem = SystemProblem::KeyOfAnotherFabric {
                key: key_name,
                fabric,
            };
            let error = SystemError::new(key.place, problem);
            return Err(if keys.is_empty() {
                error
            } else {
                error.hint(format!("`{fabric}` reads {}", keys.join(", ")))
            });
        }
    }
    Ok(TierSpec {
        name: table.need("name")?.name()?,
        count: table.need("count")?.count(1)?,
        fabric: read_fabric(fabric, &table)?,
        link: table.need("link")?.name()?,
        lanes: count_or(&table, "lanes", 1)?,
        nics: read_nics(&table)?,
    })
}

fn count_or(table: &Table<'_>, key: &str, default: u32) -> Result<u32, SystemError> {
    let count = table.optional(key, |count| Ok(count.count(1)?.value))?;
    Ok(count.unwrap_or(default))
}

fn read_nics(table: &Table<'_>) -> Result<Option<NicSpec>, SystemError> {
    let Some(nics) = table.get("nics") else {
        for key in ["host_link", "attach"] {
            if table.get(key).is_some() {
                return table.need("nics").map(|_| None);
            }
        }
        return Ok(None);
    };
    let words = [("chip", Attach::Chip), ("host", Attach::Host)];
    Ok(Some(NicSpec {
        count: nics.count(1)?,
        host_link: table.need("host_link")?.name()?,
        attach: table
            .optional("attach", |word| word.choice("attachment", &words))?
            .unwrap_or(Attach::Chip),
    }))
}

fn read_fabric(name: &str, table: &Table<'_>) -> Result<FabricSpec, SystemError> {
    Ok(match name {
        "ring" => FabricSpec::Ring {
            orders: table
                .optional("orders", |orders| {
                    orders.list(|order| order.list(|end| Ok(end.count(0)?.value)))
                })?
                .unwrap_or_default(),
        },
        "full_mesh" => FabricSpec::FullMesh,
        "torus" => FabricSpec::Torus {
            dims: table.need("dims")?.list(|dim| Ok(dim.count(1)?.value))?,
        },
        "crossbar" => FabricSpec::Crossbar {
            switch: table.need("switch")?.name()?,
            planes: count_or(table, "planes", 1)?,
        },
        "fat_tree" => FabricSpec::FatTree(read_fat_tree(table)?),
        "dragonfly" => FabricSpec::Dragonfly(DragonflySpec {
            switch: table.need("switch")?.name()?,
            routers: table.need("routers")?.count(1)?.value,
            endpoints: table.need("endpoints")?.count(1)?.value,
            global: table.need("global")?.count(1)?.value,
            local_link: table.optional("local_link", |name| name.name())?,
            global_link: table.optional("global_link", |name| name.name())?,
        }),
        "pcie_tree" => FabricSpec::PcieTree(PcieTreeSpec {
            switch: table.optional("switch", |name| name.name())?,
            per_switch: count_or(table, "per_switch", 1)?,
            root: table.need("root")?.name()?,
            sockets: count_or(table, "sockets", 1)?,
            socket_link: table.optional("socket_link", |name| name.name())?,
        }),
        "graph" => FabricSpec::Graph {
            vertices: table
                .optional("vertices", |list| list.list(|value| read_vertex(&value)))?
                .unwrap_or_default(),
            edges: table.need("edges")?.list(|value| read_edge(&value))?,
        },
        _ => unreachable!("Invariant: `FABRICS` lists the fabrics of this match"),
    })
}

fn read_fat_tree(table: &Table<'_>) -> Result<FatTreeSpec, SystemError> {
    let words = [("by_node", Wiring::ByNode), ("by_rail", Wiring::ByRail)];
    let ways = [("spine", CrossRail::Spine), ("chip", CrossRail::Chip)];
    let oversubscription = table
        .optional("oversubscription", |value| {
            let ratio = value.number()?;
            if ratio >= 1.0 {
                Ok(ratio)
            } else {
                Err(value.bad(format!(
                    "expected bandwidth down over up, 1 or more, found {ratio}"
                )))
            }
        })?
        .unwrap_or(1.0);
    Ok(FatTreeSpec {
        switch: table.need("switch")?.name()?,
        spine: table.optional("spine", |name| name.name())?,
        down: table.optional("down", |count| Ok(count.count(1)?.value))?,
        spines: table.optional("spines", |count| Ok(count.count(1)?.value))?,
        oversubscription,
        wiring: table
            .optional("wiring", |word| word.choice("wiring", &words))?
            .unwrap_or(Wiring::ByNode),
        cross_rail: table
            .optional("cross_rail", |word| word.choice("way", &ways))?
            .unwrap_or(CrossRail::Spine),
    })
}

fn read_vertex(value: &Value<'_>) -> Result<VertexSpec, SystemError> {
    let table = value.table(&["name", "switch"])?;
    Ok(VertexSpec {
        name: table.need("name")?.name()?,
        switch: table.need("switch")?.name()?,
    })
}

/// Reads `between = [a, b]` for both ways, `from` and `to` for one.
fn read_edge(value: &Value<'_>) -> Result<EdgeSpec, SystemError> {
    let table = value.table(&["between", "from", "to", "link", "lanes"])?;
    let (from, to, direction) = match table.get("between") {
        Some(between) => {
            let ends = between.list(|end| end.name())?;
            let [from, to] =
                <[_; 2]>::try_from(ends).map_err(|_| between.bad("expected two ends"))?;
            for key in ["from", "to"] {
                if let Some(value) = table.get(key) {
                    return Err(value.bad("`between` names both ends already"));
                }
            }
            (from, to, Direction::BothWays)
        }
        None if table.get("from").is_none() && table.get("to").is_none() => {
            return Err(SystemError::new(
                Some(table.place()),
                SystemProblem::MissingKey {
                    key: "between",
                    table: "an edge".to_owned(),
                },
            )
            .hint("`between = [a, b]` for both ways, `from` and `to` for one"));
        }
        None => (
            table.need("from")?.name()?,
            table.need("to")?.name()?,
            Direction::OneWay,
        ),
    };
    Ok(EdgeSpec {
        from,
        to,
        direction,
        link: table.optional("link", |name| name.name())?,
        lanes: table.optional("lanes", |lanes| Ok(lanes.count(1)?.value))?,
    })
}
