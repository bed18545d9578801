#include "feed/labelled/set_waveforms.h"

#include <cstring>
#include <utility>

#include "base/strings.h"
#include "base/try.h"
#include "feed/hdf5/hdf5_file.h"

namespace tutti {
namespace {

/// A dataset of checksums; empty where there is none.
Result<std::vector<std::uint64_t>> read_checksums(const Hdf5File& file, const char* name) {
  std::vector<std::uint64_t> checksums;
  if (!file.has(name)) return checksums;
  const auto bytes = TRY(file.read(name, Hdf5Type::u64));
  checksums.resize(bytes.size() / sizeof(std::uint64_t));
  if (!bytes.empty()) std::memcpy(checksums.data(), bytes.data(), bytes.size());
  return checksums;
}

/// Checks that waveforms in a file of their own were made with the set's features.
Result<void> expect_same_set(const Hdf5File& waveforms, const std::filesystem::path& path,
                             const std::filesystem::path& set) {
  const auto features = TRY(Hdf5File::open(set));
  const auto theirs = TRY(read_checksums(features, "row_checksums"));
  const auto ours = TRY(read_checksums(waveforms, "feature_checksums"));
  if (!ours.empty() && theirs == ours) return {};
  return fail(Fault::usage, path.string() + ": its waveforms are not those that " + set.string() + " was made of",
              "Make both with one 'tutti prepare classifier --waveforms'");
}

}  // namespace

std::filesystem::path waveform_file(const std::filesystem::path& set, SetPart part) {
  return set / (ascii_upper(name_of(part)) + "_WAVEFORMS.H5");
}

Result<std::optional<SetWaveforms>> SetWaveforms::open(const std::filesystem::path& set, SetPart part,
                                                       const LabelledSet& features) {
  const auto own = waveform_file(set, part);
  const bool is_own = is_there(own);
  const auto path = is_own ? own : set_file(set, part);
  const auto file = TRY(Hdf5File::open(path));
  if (!is_own && !file.has(kWaveforms)) return std::optional<SetWaveforms>();
  const auto found = TRY(file.dataset(kWaveforms));
  const auto& g = features.geometry();
  const Hdf5Dataset expected{.type = Hdf5Type::f32, .shape = {features.files(), g.longs, g.shorts, g.short_samples}};
  auto map = TRY(MappedFile::open(path));
  const auto end = static_cast<std::size_t>(found.offset.value_or(0) + 4 * found.count());
  const bool is_contiguous = (found.offset || found.count() == 0) && end <= map.bytes().size();
  if (found.type != expected.type || found.shape != expected.shape || !is_contiguous)
    return fail(Fault::corrupt, path.string() + ": dataset '" + kWaveforms + "': found " + found.text() +
                                    (is_contiguous ? "" : ", not contiguous") + ", expected " + expected.text());
  TRY(is_own ? expect_same_set(file, path, set_file(set, part)) : Result<void>());
  SetWaveforms waveforms(std::move(map));
  waveforms.path_ = path;
  waveforms.geometry_ = g;
  waveforms.offset_ = found.offset.value_or(0);
  if (is_own) waveforms.checksums_ = TRY(read_checksums(file, "row_checksums"));
  for (std::int64_t i = 0; i < features.files(); ++i) waveforms.names_.push_back(features.name_of_file(i));
  return std::optional(std::move(waveforms));
}

Result<std::vector<float>> SetWaveforms::clip(std::int64_t file) const {
  std::vector<float> segments(static_cast<std::size_t>(geometry_.waveform_values()));
  const auto size = std::span(segments).size_bytes();
  const auto index = static_cast<std::size_t>(file);
  std::memcpy(segments.data(), file_.bytes().data() + static_cast<std::size_t>(offset_) + index * size, size);
  if (index < checksums_.size() && row_checksum(names_[index], std::span<const float>(segments)) != checksums_[index])
    return fail(Fault::corrupt,
                path_.string() + ": row " + std::to_string(file) + " does not hold the waveform of " + names_[index],
                "Make the set again with 'tutti prepare classifier --waveforms'");
  return clip_of(geometry_, segments);
}

}  // namespace tutti
