#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "text/manifest/read.h"

// The first byte selects the format. A reader must never deliver more records than the text has bytes: every record
// takes at least one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  std::size_t found = 0;
  const tutti::ManifestSink sink{[&](tutti::ManifestEntry&& entry) { return found += !entry.origin.empty(), true; },
                                 [&](tutti::Error&& error) { found += !error.what.empty(); }};
  const auto read = [&](tutti::ManifestFormat format) {
    (void)tutti::read_manifest(text, format, "fuzz", {.path_template = size % 2 ? "{folder_path}/{name}" : ""}, sink);
  };
  switch (data[0]) {
    case 'l': read(tutti::ManifestFormat::list); break;
    case 'c': read(tutti::ManifestFormat::csv); break;
    case 'j': read(tutti::ManifestFormat::jsonl); break;
    case 's': {
      std::istringstream in{std::string(text)};
      (void)tutti::read_manifest_stream(in, "fuzz", {}, sink);
      break;
    }
    default: read(tutti::ManifestFormat::json); break;
  }
  if (found > size) std::abort();
  return 0;
}
