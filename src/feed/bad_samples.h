#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "base/error.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "feed/options.h"

namespace tutti {

/// The samples a run had to leave out: a line of JSON each, {"id":...,"reason":...}, once however often they are met,
/// also over resumed runs. Thread-safe.
class BadSamples {
 public:
  /// `file` may be empty: then they are only counted. What it holds already is not written again. `samples`:
  /// different ones that there are.
  static Result<std::unique_ptr<BadSamples>> open(const std::filesystem::path& file, BadSampleLimits limits,
                                                  std::int64_t samples);

  /// Writes nothing, and does not know how many samples there are.
  static std::unique_ptr<BadSamples> counting(BadSampleLimits limits);

  /// So many more samples have been looked at, bad ones included. More than there are can only be old ones, which
  /// count no more, as a bad one does not that is met again.
  void note_seen(std::int64_t samples);
  /// Fault::corrupt once the set is rotten beyond the limits; names them, and the last reason.
  Result<void> add(const std::string& id, const std::string& reason);

  /// What to say where a whole epoch held nothing else.
  Error nothing_usable() const;

  /// Different ones met by this run.
  std::int64_t count() const;
  /// "ID: REASON" of the last of them; empty: there is none.
  std::string last() const;

 private:
  struct State {
    std::set<std::string> known;  // in the file
    std::set<std::string> met;    // by this run
    std::int64_t seen = 0;
    std::string last;
  };
  BadSamples(OwnedFd file, std::string name, BadSampleLimits limits, std::int64_t samples)
      : file_(std::move(file)), name_(std::move(name)), limits_(limits), samples_(samples) {}
  Result<void> check_limit(std::int64_t bad, std::int64_t seen, const std::string& id, const std::string& reason) const;

  OwnedFd file_;
  std::string name_;
  BadSampleLimits limits_;
  std::int64_t samples_;
  Guarded<State> state_;
};

}  // namespace tutti
