#pragma once

#include <string>
#include <vector>

namespace tutti {

/// One thing that the doctor looked at.
struct Finding {
  enum class Level {
    good,    ///< as it should be
    note,    ///< worth knowing; nothing is lost
    broken,  ///< something does not work
    fatal,   ///< nothing works
  };
  Level level = Level::good;
  std::string thing;     ///< "driver", "GPU 0", "disk"
  std::string found;     ///< what is there
  std::string remedy{};  ///< what to do about it; empty where there is nothing to do
};

/// "ok", "note", "BAD"
const char* mark_of(Finding::Level level);

class Findings {
 public:
  using Level = Finding::Level;

  void good(std::string thing, std::string found) { add({Level::good, std::move(thing), std::move(found)}); }
  void note(std::string thing, std::string found, std::string remedy = {}) {
    add({Level::note, std::move(thing), std::move(found), std::move(remedy)});
  }
  void broken(std::string thing, std::string found, std::string remedy) {
    add({Level::broken, std::move(thing), std::move(found), std::move(remedy)});
  }
  void fatal(std::string thing, std::string found, std::string remedy) {
    add({Level::fatal, std::move(thing), std::move(found), std::move(remedy)});
  }
  void add(Finding finding) { all_.push_back(std::move(finding)); }

  const std::vector<Finding>& all() const { return all_; }
  Level worst() const;
  /// A line each, and under it what to do.
  std::string text() const;

 private:
  std::vector<Finding> all_;
};

}  // namespace tutti
