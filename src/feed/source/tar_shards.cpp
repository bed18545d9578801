#include <fcntl.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/files.h"
#include "base/owned.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/archives.h"
#include "feed/source/json_fields.h"
#include "feed/source/layouts.h"
#include "text/json_bytes.h"
#include "text/manifest/field_names.h"
#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kTar = ".tar";

struct Shard {
  fs::path file{};
  std::string name{};  ///< in front of its samples' keys
};

/// A sample of a shard: where its files are.
struct ShardSample {
  std::string key{};
  std::size_t shard = 0;
  FileRange audio{};  ///< without bytes: the sample has none
  FileRange text{};
  FileRange json{};
};

Result<OwnedFd> opened(const fs::path& path) {
  OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail_errno(path.string(), "cannot be opened");
  return file;
}

/// "dir/0001" and "normalised.txt" of "dir/0001.normalised.txt".
std::pair<std::string, std::string> key_and_ending(const std::string& name) {
  const auto folder = name.rfind('/');
  const auto dot = name.find('.', folder == std::string::npos ? 0 : folder + 1);
  if (dot == std::string::npos) return {name, ""};
  return {name.substr(0, dot), ascii_lower(name.substr(dot + 1))};
}

/// Notes a member as one of its sample's files; others are not read.
void add_member(ShardSample& sample, const std::string& ending, const FileRange& bytes) {
  if (ending == "txt" || ending == "text" || ending == "transcript")
    sample.text = bytes;
  else if (ending == "json")
    sample.json = bytes;
  else if (is_recording("x." + ending) && sample.audio.size() == 0)
    sample.audio = bytes;
}

Result<void> add_samples(const Shard& shard, std::size_t number, std::vector<ShardSample>& samples) {
  const auto file = TRY(opened(shard.file));
  const auto members = TRY(tar_members(file.get(), shard.file.string()));
  const std::size_t before = samples.size();
  for (const TarMember& member : members) {
    const auto [key, ending] = key_and_ending(member.name);
    if (samples.size() == before || samples.back().key != key) samples.push_back({.key = key, .shard = number});
    add_member(samples.back(), ending, member.bytes);
  }
  // A member that is neither recording nor text, such as a README, is no sample.
  samples.erase(
      std::remove_if(samples.begin() + static_cast<std::ptrdiff_t>(before), samples.end(),
                     [](const ShardSample& it) { return it.audio.size() + it.text.size() + it.json.size() == 0; }),
      samples.end());
  return {};
}

class TarShards final : public Dataset {
 public:
  TarShards(std::vector<Shard> shards, std::vector<ShardSample> samples, std::vector<std::string> fields)
      : shards_(std::move(shards)), samples_(std::move(samples)), fields_(std::move(fields)) {}

  std::int64_t size() const override { return std::ssize(samples_); }
  std::uint64_t fingerprint() const override {
    std::uint64_t all = samples_.size();
    for (const ShardSample& it : samples_)
      all = mixed({all, digest(id_of(it)), static_cast<std::uint64_t>(it.audio.begin),
                   static_cast<std::uint64_t>(it.audio.end), static_cast<std::uint64_t>(it.text.size()),
                   static_cast<std::uint64_t>(it.json.size())});
    return all;
  }
  std::string id(std::int64_t index) const override { return id_of(sample(index)); }
  std::string origin(std::int64_t index) const override {
    return shard_of(sample(index)).file.string() + ": " + sample(index).key;
  }
  Result<DatasetLine> at(std::int64_t index) const override;

 private:
  const ShardSample& sample(std::int64_t index) const { return samples_[static_cast<std::size_t>(index)]; }
  const Shard& shard_of(const ShardSample& it) const { return shards_[it.shard]; }
  std::string id_of(const ShardSample& it) const { return shard_of(it).name + "/" + it.key; }
  Result<void> read_text(int file, const ShardSample& sample, DatasetLine& line) const;
  Result<void> read_json(int file, const ShardSample& sample, DatasetLine& line) const;

  std::vector<Shard> shards_;
  std::vector<ShardSample> samples_;
  std::vector<std::string> fields_;
};

Result<std::string> content_of(int file, const FileRange& bytes, const std::string& name) {
  constexpr std::int64_t kMost = 16 << 20;  // of a text
  if (bytes.size() > kMost)
    return fail(Fault::corrupt, name + ": its text has " + std::to_string(bytes.size()) + " bytes");
  std::string content(static_cast<std::size_t>(bytes.size()), '\0');
  const auto read = TRY(read_at(file, std::as_writable_bytes(std::span(content)), bytes.begin, name));
  if (read != content.size()) return fail(Fault::corrupt, name + ": became shorter while it was read");
  return content;
}

Result<void> TarShards::read_text(int file, const ShardSample& sample, DatasetLine& line) const {
  if (sample.text.size() == 0) return {};
  auto text = TRY(content_of(file, sample.text, line.id));
  line.text = trimmed(text);
  return {};
}

Result<void> TarShards::read_json(int file, const ShardSample& sample, DatasetLine& line) const {
  Json object = Json::object();
  if (sample.json.size() > 0) {
    const auto text = TRY(content_of(file, sample.json, line.id));
    object = parse_json_keeping_bytes<Json>(text);
    if (!object.is_object()) return fail(Fault::corrupt, "its .json is no JSON object");
  }
  if (auto checked = check_json_text(object); !checked) return checked;
  if (line.text.empty()) line.text = trimmed(json_text_of(object, kTextNames));
  line.speaker = filled_json_text(object, kSpeakerNames);
  line.duration = TRY(json_number_of(object, kDurationNames));
  line.words = TRY(json_words_of(object));
  for (const std::string& name : fields_) line.fields.push_back(json_text_of(object, name.c_str()));
  return {};
}

Result<DatasetLine> TarShards::at(std::int64_t index) const {
  const ShardSample& it = sample(index);
  DatasetLine line{.id = id_of(it), .audio = shard_of(it).file, .member = it.audio, .named = it.key};
  if (it.audio.size() == 0) return fail(Fault::missing, "its shard has no recording of that name, or an empty one");
  const auto file = TRY(opened(line.audio));
  auto read = read_text(file.get(), it, line);
  if (read) read = read_json(file.get(), it, line);
  TRY(read);
  return line;
}

/// The file of a shard, and a name that its samples' ids begin with.
Result<Shard> shard_of(const std::string& named, std::size_t number) {
  if (!named.starts_with(kPipe)) return Shard{named, fs::path(named).stem().string()};
  auto file = TRY(file_of_pipe(named.substr(kPipe.size())));
  return Shard{std::move(file), "shard" + std::to_string(number)};
}

bool is_shard(const fs::path& path) {
  return ascii_lower(path.extension().string()) == kTar && is_file(path);
}

std::vector<fs::path> shards_named(const fs::path& folder, const std::string& start) {
  std::set<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    const bool is_part = start.empty() || (name.starts_with(start) && name.size() > start.size() &&
                                           !is_ascii_alphabetic(name[start.size()]));
    if (is_part && is_shard(entry->path())) found.insert(entry->path());
  }
  return {found.begin(), found.end()};
}

}  // namespace

bool names_shards(const std::string& data) {
  return data.starts_with(kPipe) || ascii_lower(fs::path(data).extension().string()) == kTar;
}

std::vector<fs::path> shards_in(const fs::path& folder, const std::string& split) {
  if (split.empty()) return shards_named(folder, "");
  auto own = shards_named(folder / split, "");
  return own.empty() ? shards_named(folder, split) : own;
}

Result<std::unique_ptr<Dataset>> open_shards(const std::vector<std::string>& names, std::vector<std::string> fields) {
  std::vector<Shard> shards;
  std::vector<ShardSample> samples;
  std::map<std::string, int> names_so_far;
  for (const std::string& named : names) {
    auto shard = TRY(shard_of(named, shards.size()));
    if (const int before = names_so_far[shard.name]++; before > 0) shard.name += "~" + std::to_string(before);
    TRY(add_samples(shard, shards.size(), samples));
    shards.push_back(std::move(shard));
  }
  if (samples.empty()) return fail(Fault::corrupt, names.front() + ": has no sample, a recording with .txt or .json");
  return std::make_unique<TarShards>(std::move(shards), std::move(samples), std::move(fields));
}

Result<std::unique_ptr<Dataset>> open_named_shards(const std::string& data, std::vector<std::string> fields) {
  if (is_file(data)) return open_shards({data}, std::move(fields));
  const auto names = expand_braces(data);
  if (names.empty()) return fail(Fault::usage, data + ": names more than a million shards");
  return open_shards(names, std::move(fields));
}

}  // namespace tutti
