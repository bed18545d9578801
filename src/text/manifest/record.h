#pragma once

#include <string>

#include "base/json.h"
#include "text/manifest/entry.h"

namespace tutti {

/// Makes an entry of one record with known names, or an error with the wrong field and why. `origin` is "file:line".
Result<ManifestEntry> entry_from(const nlohmann::ordered_json& record, const std::string& origin,
                                 const ManifestRules& rules);

/// A record, an object, whose fields have the names that are known here (text/manifest/field_names.h).
nlohmann::ordered_json with_known_names(nlohmann::ordered_json record);

/// Whether the rules leave an asset out, and which: counted there. Rules concern only the fields an asset has: a table
/// without asset_type is all audio.
bool is_left_out(const nlohmann::ordered_json& record, const ManifestRules& rules, ManifestTally& tally);

/// A UUID of 32 hexadecimal digits, with or without hyphens at 8-4-4-4-12, in lower case with hyphens; anything else as
/// it is.
std::string normalised_uuid(const std::string& id);

}  // namespace tutti
