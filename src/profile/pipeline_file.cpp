#include "profile/pipeline_file.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "advise/change.h"
#include "advise/item_draw.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/toml.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::size_t kDrawnItems = 65536;
constexpr double kLongestRun = 3600;        // s
constexpr double kLongestItem = 3'600'000;  // ms

const std::vector<std::string> kTopKeys{"cores", "seconds", "stage"};
const std::vector<std::string> kStageKeys{"name", "kind",        "threads",  "mean_ms",
                                          "cv",   "stall_share", "stall_ms", "queue"};
const std::vector<std::string> kKinds{"cpu", "io", "device"};

/// What a number may be.
struct Range {
  double least = 0;
  double most = 0;
  bool is_whole = false;
  bool is_open = false;  // `least` itself is not allowed
};

std::string text_of(const Range& range) {
  const auto number = [](double value) {
    return value == std::trunc(value) ? std::to_string(static_cast<long long>(value)) : number_text(value);
  };
  if (range.is_open) return "a number above " + number(range.least) + ", at most " + number(range.most);
  return std::string(range.is_whole ? "a whole number" : "a number") + " from " + number(range.least) + " to " +
         number(range.most);
}

std::string text_of(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_table<decltype(value)>)
      text << "a table";
    else if constexpr (toml::is_array<decltype(value)>)
      text << "an array";
    else
      text << value;
  });
  return text.str();
}

/// A table of the file, with what to call it in errors.
class Section {
 public:
  Section(const toml::table& table, const std::string& file, std::string name)
      : table_(table), file_(file), name_(std::move(name)) {}

  tl::unexpected<Error> error(std::string_view key, const std::string& what, const std::string& hint = {}) const {
    const toml::node* node = table_.get(key);
    const auto line = (node ? node->source() : table_.source()).begin.line;
    const std::string where = file_ + (line > 0 ? ":" + std::to_string(line) : "") + ": ";
    return fail(Fault::usage, where + (name_.empty() ? "" : name_ + ": ") + "'" + std::string(key) + "': " + what,
                hint);
  }

  Result<void> expect_known(const std::vector<std::string>& keys) const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::ranges::find(keys, name) != keys.end()) continue;
      const std::string nearest = nearest_name(name, keys);
      return error(name, "no such key",
                   nearest.empty() ? "The keys are " + joined(keys, ", ") : "Did you mean '" + nearest + "'?");
    }
    return {};
  }

  /// Without a `fallback` the key must be there.
  Result<double> number(std::string_view key, const Range& range, std::optional<double> fallback) const {
    const toml::node* node = table_.get(key);
    if (!node && fallback) return *fallback;
    if (!node) return error(key, "expected " + text_of(range) + ", found nothing");
    const double value = node->is_number() ? node->value_or(0.0) : std::nan("");
    const bool is_above = range.is_open ? value > range.least : value >= range.least;
    if (is_above && value <= range.most && (!range.is_whole || value == std::trunc(value))) return value;
    return error(key, "expected " + text_of(range) + ", found " + text_of(*node));
  }

  Result<std::string> text(std::string_view key, std::string_view expected) const {
    const toml::node* node = table_.get(key);
    if (node && node->is_string() && !node->value_or(std::string()).empty()) return node->value_or(std::string());
    return error(key, "expected " + std::string(expected) + ", found " + (node ? text_of(*node) : "nothing"));
  }

 private:
  const toml::table& table_;
  const std::string& file_;
  std::string name_;
};

Result<StageResource> kind_of(const Section& section) {
  const auto kind = TRY(section.text("kind", "cpu, io or device"));
  for (const StageResource resource : {StageResource::cpu, StageResource::io, StageResource::device})
    if (kind == name_of(resource)) return resource;
  const std::string nearest = nearest_name(kind, kKinds);
  return section.error("kind", "expected cpu, io or device, found '" + kind + "'",
                       nearest.empty() ? "" : "Did you mean '" + nearest + "'?");
}

Result<TimesDescription> times_of(const Section& section) {
  struct Entry {
    const char* key;
    Range range;
    std::optional<double> fallback;
    double value = 0;
  };
  Entry entries[] = {{"mean_ms", {0, kLongestItem}, std::nullopt},
                     {"cv", {0, 10}, 0},
                     {"stall_share", {0, 1}, 0},
                     {"stall_ms", {0, kLongestItem}, 0}};
  for (Entry& entry : entries) {
    entry.value = TRY(section.number(entry.key, entry.range, entry.fallback));
  }
  return TimesDescription{.mean = Seconds(entries[0].value / 1000),
                          .variation = entries[1].value,
                          .stall_share = entries[2].value,
                          .stall = Seconds(entries[3].value / 1000)};
}

Result<StageModel> stage_of(const toml::table& table, const std::string& file, std::size_t number) {
  const std::string name = table["name"].value_or(std::string());
  const Section section(table, file, name.empty() ? "stage " + std::to_string(number) : "stage '" + name + "'");
  TRY(section.expect_known(kStageKeys));
  const auto named = TRY(section.text("name", "a name in quotes"));
  if (named.find_first_of("=,\n") != std::string::npos)
    return section.error("name", "expected a name without '=', ',' and line ends");
  const auto kind = TRY(kind_of(section));
  const auto threads = TRY(section.number("threads", {1, kMostThreads, true}, 1));
  const auto queue = TRY(section.number("queue", {1, kMostQueue, true}, 8));
  const auto times = TRY(times_of(section));
  // The draw is the stage's own: a change elsewhere does not touch it.
  return StageModel{.name = name,
                    .resource = kind,
                    .threads = static_cast<int>(threads),
                    .queue = static_cast<std::size_t>(queue),
                    .times = std::make_shared<std::vector<ItemTime>>(draw_items(times, kDrawnItems, digest(name)))};
}

Result<std::vector<StageModel>> stages_of(const toml::table& file, const std::string& file_name) {
  const Section top(file, file_name, "");
  const toml::array* tables = file["stage"].as_array();
  if (!tables || tables->empty())
    return top.error("stage", "expected at least one [[stage]]", "Describe each stage by name, kind and mean_ms");
  std::vector<StageModel> stages;
  bool takes_time = false;
  for (const toml::node& node : *tables) {
    const std::string name = "stage " + std::to_string(stages.size() + 1);
    if (!node.is_table()) return top.error("stage", name + ": expected a table, [[stage]], found " + text_of(node));
    auto stage = TRY(stage_of(*node.as_table(), file_name, stages.size() + 1));
    for (const StageModel& other : stages)
      if (other.name == stage.name)
        return Section(*node.as_table(), file_name, "stage '" + other.name + "'")
            .error("name", "expected a name of its own, found one that another stage has");
    takes_time |= std::ranges::any_of(*stage.times, [](const ItemTime& t) { return (t.work + t.stall).count() > 0; });
    stages.push_back(std::move(stage));
  }
  if (!takes_time)
    return Section(*tables->front().as_table(), file_name, "stage '" + stages[0].name + "'")
        .error("mean_ms", "expected more than 0 in at least one stage, found 0 in all");
  return stages;
}

}  // namespace

Result<DescribedPipeline> parse_pipeline(std::string_view toml, const std::string& file_name) {
  const auto file = TRY(parse_toml(toml, file_name, Fault::usage));
  const Section top(file, file_name, "");
  TRY(top.expect_known(kTopKeys));
  const double machine = std::max(1U, std::thread::hardware_concurrency());
  const auto cores = TRY(top.number("cores", {1, kMostThreads, true}, machine));
  const auto seconds = TRY(top.number("seconds", {0, kLongestRun, false, true}, 4));
  auto stages = TRY(stages_of(file, file_name));
  return DescribedPipeline{{static_cast<int>(cores), std::move(stages)}, Seconds(seconds)};
}

Result<DescribedPipeline> read_pipeline(const std::filesystem::path& file) {
  const auto text = TRY(read_file(file));
  return parse_pipeline(text, file.string());
}

}  // namespace tutti
