#include "transcribe/bench/clip.h"

#include <span>
#include <string>
#include <string_view>

#include "base/files.h"

namespace tutti {

extern const std::string_view kBenchClip;  // data/bench_clip.ogg

Result<BundledClip> bundled_clip() {
  auto file = open_unnamed_file();
  if (!file) return tl::unexpected(file.error());
  const auto written = write_all(file->get(), std::as_bytes(std::span(kBenchClip)), "the bundled clip");
  if (!written) return tl::unexpected(written.error());
  auto path = std::filesystem::path("/proc/self/fd") / std::to_string(file->get());
  return BundledClip{std::move(*file), std::move(path)};
}

}  // namespace tutti
