#include "feed/labelled/labelled_set.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/owned.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "base/try.h"
#include "feed/feature_cache.h"
#include "feed/hdf5/hdf5_file.h"
#include "feed/labelled/set_waveforms.h"
#include "feed/prepared_set.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMel = "segments_mel";
constexpr const char* kLabels = "labels";
constexpr const char* kChecksums = "row_checksums";
constexpr const char* kFeatureChecksums = "feature_checksums";
constexpr const char* kNames = "file_names";
constexpr const char* kGroups = "groups";
constexpr const char* kRecordings = "recordings";

std::vector<std::int64_t> shape_of(const AudioGeometry& g, std::size_t files) {
  return {static_cast<std::int64_t>(files), g.longs, g.shorts, g.mel.n_mels, g.frames()};
}

Result<void> write_attributes(Hdf5File& file, const LabelledPart& part) {
  Json ids = Json::object();
  for (std::size_t i = 0; i < part.labels.size(); ++i) ids[part.labels[i]] = i;
  const Json network{{"n_mels", part.geometry.mel.n_mels}, {"t_frames", part.geometry.frames()}};
  const std::pair<const char*, std::string> attributes[] = {
      {"config_json", show_geometry(part.geometry)},
      {"cnn_config_json", json_line(network)},
      {"labels_json", json_line(Json(part.labels))},
      {"label2id_json", json_line(ids)},
      {"created_at_utc", utc_text(std::chrono::system_clock::now())}};
  for (const auto& [name, text] : attributes)
    if (auto written = file.write_attribute(name, text); !written) return written;
  return {};
}

std::uint64_t checksum_with(const std::string& name, std::span<const std::byte> row) {
  return mixed({digest(name), checksum(row)});
}

/// The one big dataset of a file, row by row.
struct BigRows {
  const char* dataset;
  const char* content;  // of a row, for people
  Hdf5Type type;
  std::vector<std::int64_t> shape;
  std::uint64_t LabelledRow::*checksum;
  std::function<std::span<const std::byte>(std::size_t row)> bytes;
};

BigRows features_of(const LabelledPart& part) {
  return {kMel,
          "features",
          Hdf5Type::f16,
          shape_of(part.geometry, part.rows.size()),
          &LabelledRow::checksum,
          [&part](std::size_t row) { return std::as_bytes(part.mel(row)); }};
}

BigRows waveforms_of(const LabelledPart& part) {
  const auto& g = part.geometry;
  return {kWaveforms,
          "waveform",
          Hdf5Type::f32,
          {std::ssize(part.rows), g.longs, g.shorts, g.short_samples},
          &LabelledRow::waveform_checksum,
          [&part](std::size_t row) { return std::as_bytes(part.waveform(row)); }};
}

/// Writes all but the big dataset, and returns where its bytes begin.
Result<std::int64_t> write_frame(const std::filesystem::path& path, const LabelledPart& part, const BigRows& rows) {
  auto file = TRY(Hdf5File::create(path));
  std::vector<std::int16_t> labels;
  std::vector<std::uint64_t> checksums, of_features;
  std::vector<std::string> names, groups, recordings;
  bool has_clips = false;
  for (const auto& row : part.rows) {
    recordings.push_back(row.recording.empty() ? row.name : row.recording);
    has_clips |= recordings.back() != row.name;
    labels.push_back(row.label);
    checksums.push_back(row.*rows.checksum);
    of_features.push_back(row.checksum);
    names.push_back(row.name);
    groups.push_back(row.group);
  }
  const std::vector<std::int64_t> files{std::ssize(part.rows)};
  TRY(file.write(kLabels, Hdf5Type::i16, files, std::as_bytes(std::span(labels))));
  TRY(file.write(kChecksums, Hdf5Type::u64, files, std::as_bytes(std::span(checksums))));
  if (rows.checksum != &LabelledRow::checksum)
    TRY(file.write(kFeatureChecksums, Hdf5Type::u64, files, std::as_bytes(std::span(of_features))));
  TRY(file.write_texts(kNames, names));
  TRY(file.write_texts(kGroups, groups));
  if (has_clips) TRY(file.write_texts(kRecordings, recordings));
  TRY(write_attributes(file, part));
  const auto offset = TRY(file.reserve(rows.dataset, rows.type, rows.shape));
  TRY(file.close());
  return offset;
}

Result<void> write_rows(const std::filesystem::path& path, std::int64_t offset, const BigRows& rows) {
  const OwnedFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return fail_errno(path.string(), "cannot be opened");
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.shape[0]); ++row) {
    const auto bytes = rows.bytes(row);
    const auto at = offset + static_cast<std::int64_t>(row * bytes.size());
    if (auto written = write_at(file.get(), bytes, at, path.string()); !written) return written;
  }
  if (::fsync(file.get()) != 0) return fail_errno(path.string(), "could not be flushed to its disk");
  return {};
}

/// Compares every row as it is in the file with the checksum that was taken where it was computed.
Result<void> check_rows(const std::filesystem::path& path, std::int64_t offset, const LabelledPart& part,
                        const BigRows& rows) {
  const auto file = TRY(MappedFile::open(path));
  for (std::size_t row = 0; row < part.rows.size(); ++row) {
    const auto size = rows.bytes(row).size();
    const auto& expected = part.rows[row];
    if (checksum_with(expected.name, file.bytes().subspan(static_cast<std::size_t>(offset) + row * size, size)) !=
        expected.*rows.checksum)
      return fail(Fault::internal, path.string() + ": row " + std::to_string(row) + " does not hold the " +
                                       rows.content + " of " + expected.name);
  }
  return {};
}

/// Writes a file that appears whole, or not at all.
Result<void> write_checked(const std::filesystem::path& path, const LabelledPart& part, const BigRows& rows) {
  auto staging = path;
  staging += ".new";
  const auto offset = write_frame(staging, part, rows);
  auto done = offset ? write_rows(staging, *offset, rows) : tl::unexpected<Error>(offset.error());
  if (done) done = check_rows(staging, *offset, part, rows);
  if (done) done = publish_file(staging, path);
  std::error_code ignored;
  if (!done) std::filesystem::remove(staging, ignored);
  return done;
}

tl::unexpected<Error> unlike(const std::filesystem::path& path, const std::string& dataset, const std::string& found,
                             const std::string& expected) {
  return fail(Fault::corrupt, path.string() + ": dataset '" + dataset + "': found " + found + ", expected " + expected);
}

Result<std::vector<std::string>> read_labels(const Hdf5File& file, const std::filesystem::path& path) {
  const auto text = TRY(file.attribute("labels_json"));
  const auto json = Json::parse(text, nullptr, false);
  const bool are_texts = json.is_array() && std::ranges::all_of(json, [](const Json& one) { return one.is_string(); });
  if (!are_texts) return fail(Fault::corrupt, path.string() + ": labels_json: expected a list of names");
  return json.get<std::vector<std::string>>();
}

/// How many files, and the names of the first.
std::string listed_names(const LabelledSet& set, const std::vector<std::int64_t>& files) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> names;
  for (const auto file : std::span(files).first(std::min(kMost, files.size()))) names.push_back(set.name_of_file(file));
  return std::to_string(files.size()) + " files (" + joined(names, ", ") + (files.size() > kMost ? ", ...)" : ")");
}

}  // namespace

std::filesystem::path set_file(const std::filesystem::path& set, SetPart part) {
  return set / (ascii_upper(name_of(part)) + "_DATASET.H5");
}

std::filesystem::path set_with_front_end(std::filesystem::path set, const std::string& name) {
  return set += "-" + name;
}

std::string clip_name(const std::string& file, Seconds start) {
  return file + "@" + fixed_text(start.count(), 3);
}

Seconds start_of_clip_named(const std::string& name, const std::string& file) {
  if (name.size() <= file.size() + 1 || !name.starts_with(file + "@")) return Seconds(0);
  return Seconds(number_in<double>(std::string_view(name).substr(file.size() + 1)).value_or(0));
}

std::uint64_t row_checksum(const std::string& name, std::span<const std::uint16_t> mel) {
  return checksum_with(name, std::as_bytes(mel));
}

std::uint64_t row_checksum(const std::string& name, std::span<const float> waveform) {
  return checksum_with(name, std::as_bytes(waveform));
}

Result<void> write_labelled_part(const std::filesystem::path& path, const LabelledPart& part) {
  return write_checked(path, part, features_of(part));
}

Result<void> write_waveform_part(const std::filesystem::path& path, const LabelledPart& part) {
  return write_checked(path, part, waveforms_of(part));
}

Result<std::shared_ptr<const LabelledSet>> LabelledSet::open(const std::filesystem::path& path) {
  auto mapped = TRY(MappedFile::open(path));
  std::shared_ptr<LabelledSet> set(new LabelledSet(std::move(mapped)));
  TRY(set->read(path));
  return std::shared_ptr<const LabelledSet>(std::move(set));
}

std::shared_ptr<const LabelledSet> LabelledSet::one_against_rest(const std::string& label) const {
  std::shared_ptr<LabelledSet> set(new LabelledSet(*this));
  const auto found = std::ranges::find(labels_, label) - labels_.begin();
  set->labels_ = {label, "NOT_" + label};
  std::ranges::sort(set->labels_);
  const auto one = static_cast<std::int16_t>(std::ranges::find(set->labels_, label) - set->labels_.begin());
  for (auto& other : set->file_labels_) other = other == found ? one : static_cast<std::int16_t>(1 - one);
  set->fingerprint_ = mixed({fingerprint_, digest(label)});
  return set;
}

/// The label of every file, and names and groups where the set has them.
Result<void> LabelledSet::read_files(const Hdf5File& open_file, const std::filesystem::path& path) {
  const auto numbers = TRY(open_file.read(kLabels, Hdf5Type::i16));
  file_labels_.resize(numbers.size() / sizeof(std::int16_t));
  if (!numbers.empty()) std::memcpy(file_labels_.data(), numbers.data(), numbers.size());
  for (const auto label : file_labels_)
    if (label < 0 || label >= std::ssize(labels_))
      return fail(Fault::corrupt, path.string() + ": dataset 'labels' holds " + std::to_string(label) + "; there are " +
                                      std::to_string(labels_.size()) + " labels");
  for (const auto& [name, into] :
       {std::pair(kNames, &names_), std::pair(kGroups, &groups_), std::pair(kRecordings, &recordings_)}) {
    if (!open_file.has(name)) continue;
    auto texts = TRY(open_file.read_texts(name));
    *into = std::move(texts);
  }
  return {};
}

Result<void> LabelledSet::read(const std::filesystem::path& path) {
  const auto file = TRY(Hdf5File::open(path));
  const auto mel = TRY(file.dataset(kMel));
  if (!file.has(kLabels))
    return fail(Fault::usage,
                path.string() + ": it has no labels: expected a dataset 'labels', int16 [" +
                    std::to_string(mel.shape.empty() ? 0 : mel.shape[0]) + "]",
                "Make a set of labelled recordings with 'tutti prepare classifier'");
  const auto labels = TRY(file.dataset(kLabels));
  auto shape = mel.shape;
  constexpr std::size_t kDimensions = 5;
  if (shape.size() == kDimensions + 1 && shape[3] == 1) shape.erase(shape.begin() + 3);  // a channel of one
  if (shape.size() != kDimensions || (mel.type != Hdf5Type::f16 && mel.type != Hdf5Type::f32))
    return unlike(path, kMel, mel.text(), "float16 [files, long segments, short segments, mels, frames]");
  const auto config = TRY(file.attribute("config_json"));
  const auto geometry = read_geometry(config, shape[1], shape[2]);
  if (!geometry) return fail_in(path.string(), geometry.error());
  geometry_ = *geometry;
  const auto expected = shape_of(geometry_, static_cast<std::size_t>(shape[0]));
  if (shape != expected)
    return unlike(path, kMel, mel.text(), Hdf5Dataset{.type = Hdf5Type::f16, .shape = expected}.text());
  if (labels.type == Hdf5Type::text || labels.shape != std::vector{shape[0]})
    return unlike(path, kLabels, labels.text(), "int16 [" + std::to_string(shape[0]) + "]");
  labels_ = TRY(read_labels(file, path));
  if (auto files = read_files(file, path); !files) return files;
  auto bytes = file_->bytes();
  const auto size = static_cast<std::size_t>(mel.count()) * sizeof(std::uint16_t);
  const bool is_mapped = mel.type == Hdf5Type::f16 && mel.offset && *mel.offset % 2 == 0 &&
                         static_cast<std::size_t>(*mel.offset) + size <= bytes.size();
  if (is_mapped) {
    bytes = bytes.subspan(static_cast<std::size_t>(*mel.offset), size);
  } else {
    auto copy = TRY(file.read(kMel, Hdf5Type::f16));
    copy_ = std::make_shared<const std::vector<std::byte>>(std::move(copy));
    bytes = *copy_;
  }
  mel_ = {reinterpret_cast<const std::uint16_t*>(bytes.data()), bytes.size() / sizeof(std::uint16_t)};
  if (const auto unusable = unusable_files(); !unusable.empty()) {
    log(Level::warning, path.string() + ": left out: " + listed_names(*this, unusable) +
                            "; their features are no numbers, or nothing but zeros");
    std::vector<std::int64_t> usable;
    for (std::int64_t one = 0; one < files(); ++one)
      if (!std::ranges::binary_search(unusable, one)) usable.push_back(one);
    keep(usable);
    bytes = *copy_;
  }
  fingerprint_ = mixed({checksum(bytes), checksum(std::as_bytes(std::span(file_labels_))), digest(config)});
  return {};
}

std::vector<std::int64_t> LabelledSet::unusable_files() const {
  constexpr unsigned kMagnitude = 0x7fff, kExponent = 0x7c00;  // all of an infinity's or NaN's exponent is set
  std::vector<std::int64_t> unusable;
  const auto size = static_cast<std::size_t>(geometry_.values());
  for (std::size_t file = 0; file < file_labels_.size(); ++file) {
    unsigned any = 0;
    bool is_odd = false;
    for (const unsigned half : mel_.subspan(file * size, size)) {
      any |= half & kMagnitude;
      is_odd |= (half & kExponent) == kExponent;
    }
    if (any == 0 || is_odd) unusable.push_back(static_cast<std::int64_t>(file));
  }
  return unusable;
}

/// Only these files stay. Their features are in memory from then on.
void LabelledSet::keep(std::span<const std::int64_t> files) {
  const auto size = static_cast<std::size_t>(geometry_.values());
  std::vector<std::byte> kept;
  std::vector<std::int16_t> labels;
  std::vector<std::string> names, groups, recordings;
  for (const std::int64_t file : files) {
    const auto mel = std::as_bytes(mel_.subspan(static_cast<std::size_t>(file) * size, size));
    kept.insert(kept.end(), mel.begin(), mel.end());
    labels.push_back(label_of_file(file));
    names.push_back(name_of_file(file));
    groups.push_back(group_of_file(file));
    if (!recordings_.empty()) recordings.push_back(recording_of_file(file));
  }
  copy_ = std::make_shared<const std::vector<std::byte>>(std::move(kept));
  mel_ = {reinterpret_cast<const std::uint16_t*>(copy_->data()), copy_->size() / sizeof(std::uint16_t)};
  file_labels_ = std::move(labels);
  names_ = std::move(names);
  groups_ = std::move(groups);
  recordings_ = std::move(recordings);
}

std::shared_ptr<const LabelledSet> LabelledSet::of_files(std::span<const std::int64_t> files) const {
  std::shared_ptr<LabelledSet> set(new LabelledSet(*this));
  set->keep(files);
  set->fingerprint_ = mixed({fingerprint_, checksum(std::as_bytes(files))});
  return set;
}

std::shared_ptr<const LabelledSet> LabelledSet::with(const LabelledSet& other) const {
  std::shared_ptr<LabelledSet> set(new LabelledSet(*this));
  auto bytes = std::make_shared<std::vector<std::byte>>();
  set->names_ = set->groups_ = set->recordings_ = {};
  set->file_labels_ = {};
  for (const LabelledSet* one : {this, &other}) {
    const auto mel = std::as_bytes(one->mel_);
    bytes->insert(bytes->end(), mel.begin(), mel.end());
    for (std::int64_t file = 0; file < one->files(); ++file) {
      set->file_labels_.push_back(one->label_of_file(file));
      set->names_.push_back(one->name_of_file(file));
      set->groups_.push_back(one->group_of_file(file));
      set->recordings_.push_back(one->recording_of_file(file));
    }
  }
  set->mel_ = {reinterpret_cast<const std::uint16_t*>(bytes->data()), bytes->size() / sizeof(std::uint16_t)};
  set->copy_ = std::move(bytes);
  set->fingerprint_ = mixed({fingerprint_, other.fingerprint_});
  return set;
}

std::string LabelledSet::name_of_file(std::int64_t file) const {
  const auto index = static_cast<std::size_t>(file);
  return index < names_.size() ? names_[index] : "file " + std::to_string(file);
}

std::string LabelledSet::group_of_file(std::int64_t file) const {
  const auto index = static_cast<std::size_t>(file);
  return index < groups_.size() ? groups_[index] : name_of_file(file);
}

std::string LabelledSet::recording_of_file(std::int64_t file) const {
  const auto index = static_cast<std::size_t>(file);
  return index < recordings_.size() ? recordings_[index] : name_of_file(file);
}

std::vector<std::pair<std::int64_t, std::int64_t>> LabelledSet::recordings() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (std::int64_t file = 0; file < files(); ++file) {
    const bool goes_on = file > 0 && !recordings_.empty() && recording_of_file(file) == recording_of_file(file - 1) &&
                         label_of_file(file) == label_of_file(file - 1);
    if (goes_on)
      all.back().second = file + 1;
    else
      all.emplace_back(file, file + 1);
  }
  return all;
}

std::string LabelledSet::id_of(std::int64_t row) const {
  constexpr std::size_t kNumber = 12;  // one allocation: batches have thousands of ids
  const auto index = static_cast<std::size_t>(file_of(row));
  std::string id;
  if (index < names_.size()) {
    id.reserve(names_[index].size() + kNumber);
    id = names_[index];
  } else {
    id = name_of_file(file_of(row));
  }
  const auto segments = geometry_.segments();
  if (segments > 1) id.append("#").append(std::to_string(row % segments));
  return id;
}

}  // namespace tutti
