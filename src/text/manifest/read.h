#pragma once

#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "text/manifest/entry.h"

namespace tutti {

enum class ManifestFormat {
  list,   // one path per line, or paths that end with NULs
  csv,    // comma, semicolon or tab between columns, named in the first line
  jsonl,  // one object per line
  json    // note 000's manifest, {"assets": [...]}, oldest last; or a list of objects or paths
};

/// By the extension: .txt and .lst, .csv and .tsv, .jsonl and .ndjson, .json. None: not a manifest.
std::optional<ManifestFormat> manifest_format(const std::filesystem::path& path);

/// Reads a manifest's text and hands on its entries as it goes, so that work starts before the end is read; of note
/// 000's manifest the last asset comes first, which is the oldest. `name` is for messages. docs/store.md lists the
/// names of columns and fields. Fails when the text as a whole cannot be intended; one bad record costs a `problem`.
Result<ManifestTally> read_manifest(std::string_view text, ManifestFormat format, const std::string& name,
                                    const ManifestRules& rules, const ManifestSink& sink);

/// The same for a file.
Result<ManifestTally> read_manifest(const std::filesystem::path& path, ManifestFormat format,
                                    const ManifestRules& rules, const ManifestSink& sink);

/// Paths or JSON objects, one a line or each ended by a NUL, from a stream ("-"): it is read to its end first.
Result<ManifestTally> read_manifest_stream(std::istream& in, const std::string& name, const ManifestRules& rules,
                                           const ManifestSink& sink);

/// "12 not of the type Audio, 3 in Resources/To Be Sorted, 1 deleted, 2 that cannot be used": which records a reader
/// has left out by `rules`, for people; empty: none.
std::string left_out_text(const ManifestTally& tally, const ManifestRules& rules);

}  // namespace tutti
