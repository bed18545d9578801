#include "script.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <sstream>
#include <tuple>

extern "C" void __lsan_ignore_object(const void*) __attribute__((weak));  // there in builds with LeakSanitizer only

namespace fake {

struct Card {
  std::string id;               // its UUID, or its index in the script
  Fields fields{};              // empty: not there
  const Card* whole = nullptr;  // of a slice
  std::chrono::steady_clock::time_point energy_time = std::chrono::steady_clock::now();
  double energy = 0;
};

namespace {

struct Line {
  std::string what;
  Fields fields;
};

struct World {
  std::mutex mutex;
  std::tuple<std::int64_t, std::int64_t, std::int64_t, ino_t> stamp{};  // of the file as read
  bool exists = false;
  std::string path;  // of the script; stays while the library is started, whatever becomes of the variable
  std::vector<Line> lines;
  std::deque<Card> cards;         // every one that ever was
  std::vector<Card*> in_script;   // GPUs of the script, in its order
  std::vector<Card*> enumerated;  // at the first nvmlInit
  std::vector<Card*> slices;
  int started = 0;
  std::size_t events_taken = 0;
};

/// Never destroyed: at the end of a process a call may still hang in it. Nor is it a leak where the library is
/// unloaded.
World& world() {
  static World& all = []() -> World& {
    auto* made = new World;
    if (__lsan_ignore_object) __lsan_ignore_object(made);
    return *made;
  }();
  return all;
}

Fields fields_of(std::istringstream& words) {
  Fields fields;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const std::string key = word.substr(0, equals);
    if (key == "name") {  // goes to the end of the line
      std::string rest;
      std::getline(words, rest);
      value += rest;
    }
    fields[key] = value;
  }
  return fields;
}

std::string at(const Fields& fields, const std::string& key) {
  const auto found = fields.find(key);
  return found == fields.end() ? "" : found->second;
}

Card* card_of(World& all, const std::string& id) {
  const auto found = std::find_if(all.cards.begin(), all.cards.end(), [&](const Card& card) { return card.id == id; });
  if (found != all.cards.end()) return &*found;
  return &all.cards.emplace_back(Card{.id = id});
}

void assign_indices(World& all) {
  for (auto& card : all.cards) card.fields.clear();
  all.in_script.clear();
  all.slices.clear();
  for (const auto& line : all.lines) {
    if (line.what != "gpu" && line.what != "mig") continue;
    const auto uuid = at(line.fields, "uuid");
    Card* card = card_of(all, uuid.empty() ? "#" + std::to_string(all.in_script.size()) : uuid);
    card->fields = line.fields;
    if (line.what == "mig") card->whole = card_of(all, at(line.fields, "gpu"));
    (line.what == "gpu" ? all.in_script : all.slices).push_back(card);
  }
}

const char* script_of_environment() {
  const char* named = std::getenv("TUTTI_FAKE_NVML");
  return named ? named : "";
}

/// Reads the file again if it changed. The caller holds the lock.
void refresh(World& all) {
  if (all.started == 0) all.path = script_of_environment();
  struct stat facts {};
  if (::stat(all.path.c_str(), &facts) != 0) {
    all.exists = false;
    all.stamp = {};
    all.lines.clear();
    return assign_indices(all);
  }
  const auto stamp = std::tuple<std::int64_t, std::int64_t, std::int64_t, ino_t>(
      facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_size, facts.st_ino);
  if (all.exists && stamp == all.stamp) return;
  std::ifstream file(all.path);
  all.lines.clear();
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with('#')) continue;
    std::istringstream words(text);
    Line line;
    words >> line.what;
    if (line.what.empty()) continue;
    if (line.what == "driver" || line.what == "cuda" || line.what == "abi")
      words >> line.fields["value"];
    else
      line.fields = fields_of(words);
    all.lines.push_back(std::move(line));
  }
  all.exists = true;
  all.stamp = stamp;
  assign_indices(all);
}

bool matches(const Line& line, const char* what, const char* call, const Card* card) {
  if (line.what != what) return false;
  const auto wanted = at(line.fields, "call"), gpu = at(line.fields, "gpu");
  return (wanted == call || wanted == "*") && (gpu.empty() || (card && card->id == gpu));
}

const Line* find_line(const World& all, const char* what, const char* call, const Card* card) {
  for (const auto& line : all.lines)
    if (matches(line, what, call, card)) return &line;
  return nullptr;
}

bool is_there(const Card& card) {
  return !card.fields.empty() && !card.fields.contains("lost") && (!card.whole || is_there(*card.whole));
}

void add_loads(const World& all, const Card& card, std::vector<Process>& found) {
  const std::string folder = all.path + ".loads";
  DIR* open = ::opendir(folder.c_str());
  if (!open) return;
  while (const dirent* entry = ::readdir(open)) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream file(folder + "/" + entry->d_name);
    std::string text, what;
    if (!std::getline(file, text)) continue;
    std::istringstream words(text);
    words >> what;
    const Fields fields = fields_of(words);
    if (what != "load" || at(fields, "gpu") != card.id) continue;
    const auto pid = std::strtoul(at(fields, "pid").c_str(), nullptr, 10);
    // A killed process could not withdraw its lines.
    if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) continue;
    found.push_back({static_cast<unsigned>(pid), std::strtoull(at(fields, "memory").c_str(), nullptr, 10),
                     static_cast<unsigned>(std::strtoul(at(fields, "util").c_str(), nullptr, 10))});
  }
  ::closedir(open);
}

std::vector<Process> processes_of(const World& all, const Card& card) {
  std::vector<Process> found;
  for (const auto& line : all.lines)
    if (line.what == "process" && at(line.fields, "gpu") == card.id)
      found.push_back({static_cast<unsigned>(std::strtoul(at(line.fields, "pid").c_str(), nullptr, 10)),
                       std::strtoull(at(line.fields, "memory").c_str(), nullptr, 10),
                       static_cast<unsigned>(std::strtoul(at(line.fields, "util").c_str(), nullptr, 10)),
                       line.fields.contains("draws")});
  add_loads(all, card, found);
  return found;
}

unsigned utilisation_of(const World& all, const Card& card) {
  if (card.fields.contains("util"))
    return static_cast<unsigned>(std::strtoul(at(card.fields, "util").c_str(), nullptr, 10));
  unsigned sum = 0;
  for (const auto& process : processes_of(all, card)) sum += process.util;
  return std::min(sum, 100u);
}

std::optional<double> power_of(const World& all, const Card& card) {
  if (card.fields.contains("power")) return std::strtod(at(card.fields, "power").c_str(), nullptr);
  if (!card.fields.contains("power_limit")) return std::nullopt;
  const double limit = std::strtod(at(card.fields, "power_limit").c_str(), nullptr);
  return limit * (0.1 + 0.9 * utilisation_of(all, card) / 100.0);
}

template <class Fn>
auto locked(Fn fn) {
  World& all = world();
  std::lock_guard lock(all.mutex);
  refresh(all);
  return fn(all);
}

}  // namespace

int start() {
  return locked([](World& all) -> int {
    if (!all.exists) {  // the library is still loaded, but its script is gone
      all.path = script_of_environment();
      refresh(all);
    }
    if (!all.exists) return kDriverNotLoaded;
    if (all.started++ == 0) all.enumerated = all.in_script;
    return kSuccess;
  });
}

int stop() {
  return locked([](World& all) -> int { return all.started > 0 ? (--all.started, kSuccess) : kUninitialised; });
}

int enter(const char* call, const Card* card) {
  while (locked([&](World& all) { return find_line(all, "hang", call, card) != nullptr; })) ::usleep(1000);
  return locked([&](World& all) -> int {
    if (const Line* error = find_line(all, "error", call, card))
      return static_cast<int>(std::strtol(at(error->fields, "code").c_str(), nullptr, 10));
    return card && !is_there(*card) ? kGpuIsLost : kSuccess;
  });
}

std::optional<std::string> system_field(const std::string& key) {
  return locked([&](World& all) -> std::optional<std::string> {
    for (const auto& line : all.lines)
      if (line.what == key) return at(line.fields, "value");
    return std::nullopt;
  });
}

unsigned card_count() {
  return locked([](World& all) { return static_cast<unsigned>(all.enumerated.size()); });
}

const Card* card_at(unsigned index) {
  return locked(
      [&](World& all) -> const Card* { return index < all.enumerated.size() ? all.enumerated[index] : nullptr; });
}

const Card* slice_at(const Card* card, unsigned index) {
  return locked([&](World& all) -> const Card* {
    for (const Card* slice : all.slices)
      if (slice->whole == card && index-- == 0) return slice;
    return nullptr;
  });
}

unsigned slice_count(const Card* card) {
  return locked([&](World& all) {
    return static_cast<unsigned>(
        std::count_if(all.slices.begin(), all.slices.end(), [&](const Card* slice) { return slice->whole == card; }));
  });
}

std::optional<std::string> field(const Card* card, const std::string& key) {
  return locked([&](World&) -> std::optional<std::string> {
    const auto found = card->fields.find(key);
    return found == card->fields.end() ? std::nullopt : std::optional(found->second);
  });
}

std::optional<unsigned long long> number(const Card* card, const std::string& key) {
  const auto text = field(card, key);
  return text ? std::optional(std::strtoull(text->c_str(), nullptr, 0)) : std::nullopt;
}

std::optional<double> real(const Card* card, const std::string& key) {
  const auto text = field(card, key);
  return text ? std::optional(std::strtod(text->c_str(), nullptr)) : std::nullopt;
}

std::vector<Process> processes(const Card* card) {
  return locked([&](World& all) { return processes_of(all, *card); });
}

unsigned utilisation(const Card* card) {
  return locked([&](World& all) { return utilisation_of(all, *card); });
}

std::optional<double> power(const Card* card) {
  return locked([&](World& all) { return power_of(all, *card); });
}

std::optional<double> energy(const Card* card) {
  return locked([&](World& all) -> std::optional<double> {
    if (card->fields.contains("energy")) return std::strtod(at(card->fields, "energy").c_str(), nullptr);
    const auto watts = power_of(all, *card);
    if (!watts) return std::nullopt;
    Card* mine = card_of(all, card->id);
    const auto now = std::chrono::steady_clock::now();
    mine->energy += *watts * std::chrono::duration<double>(now - mine->energy_time).count();
    mine->energy_time = now;
    return mine->energy;
  });
}

std::optional<std::string> between(const Card* a, const Card* b) {
  return locked([&](World& all) -> std::optional<std::string> {
    for (const auto& line : all.lines) {
      if (line.what != "path") continue;
      const auto one = at(line.fields, "gpu"), other = at(line.fields, "peer");
      if ((one == a->id && other == b->id) || (one == b->id && other == a->id)) return at(line.fields, "level");
    }
    return std::nullopt;
  });
}

std::vector<const Card*> links(const Card* card) {
  return locked([&](World& all) {
    std::vector<const Card*> found;
    for (const auto& line : all.lines) {
      if (line.what != "link") continue;
      const auto one = at(line.fields, "gpu"), other = at(line.fields, "peer");
      if (one != card->id && other != card->id) continue;
      const Card* peer = other == "switch" ? nullptr : card_of(all, one == card->id ? other : one);
      found.insert(found.end(), std::strtoul(at(line.fields, "count").c_str(), nullptr, 10), peer);
    }
    return found;
  });
}

std::optional<Event> take_event() {
  return locked([](World& all) -> std::optional<Event> {
    std::size_t seen = 0;
    for (const auto& line : all.lines) {
      if (line.what != "xid" || seen++ < all.events_taken) continue;
      ++all.events_taken;
      return Event{card_of(all, at(line.fields, "gpu")), std::strtoull(at(line.fields, "code").c_str(), nullptr, 10)};
    }
    return std::nullopt;
  });
}

}  // namespace fake
