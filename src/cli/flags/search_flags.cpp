#include "cli/flags/search_flags.h"

#include <cmath>

#include "transcript/search_limits.h"

namespace tutti {
namespace {

Result<void> check_count(const char* flag, std::int32_t found) {
  if (found >= 1 && found <= kMostBeams) return {};
  return fail(Fault::usage, std::string(flag) + ": expected 1 to " + show_value(kMostBeams) + ", or None, found " +
                                show_value(found));
}

Result<void> check_patience(const SearchFlags& flags) {
  if (!flags.patience) return {};
  if (!flags.beam_size) {
    return fail(Fault::usage, "--patience has no meaning without --beam-size",
                "It sets how many hypotheses of a beam search must have ended");
  }
  const double patience = *flags.patience;
  if (!(patience > 0 && patience <= kMostPatience)) {
    return fail(Fault::usage, "--patience: expected above 0 and at most " + show_value(kMostPatience) + ", found " +
                                  show_value(patience));
  }
  if (std::nearbyint(*flags.beam_size * patience) < 1) {
    return fail(Fault::usage, "--patience " + show_value(patience) + " with --beam-size " +
                                  show_value(*flags.beam_size) + " rounds to no hypothesis at all");
  }
  return {};
}

}  // namespace

void add_search(OptionTable& table, SearchFlags& flags) {
  table.add("best-of", flags.best_of, "N|None", "samples to choose from at a temperature above 0");
  table.add("beam-size", flags.beam_size, "N|None",
            "hypotheses followed side by side at temperature 0; None: the most probable token each time, much faster");
  table.add("patience", flags.patience, "X|None",
            "a beam search goes on until N times X hypotheses have ended; None: 1; needs --beam-size");
  table.add("length-penalty", flags.length_penalty, "X|None",
            "0 to 1: hypotheses rank by log-probability / ((5 + tokens) / 6)^X; None: per token");
}

Result<void> set_search(const SearchFlags& flags, DecodingOptions& options) {
  if (auto checked = check_count("--best-of", flags.best_of.value_or(1)); !checked) return checked;
  if (auto checked = check_count("--beam-size", flags.beam_size.value_or(1)); !checked) return checked;
  if (auto checked = check_patience(flags); !checked) return checked;
  const double penalty = flags.length_penalty.value_or(0);
  if (!(penalty >= 0 && penalty <= 1)) {
    return fail(Fault::usage, "--length-penalty: expected 0 to 1, or None, found " + show_value(penalty));
  }
  options.best_of = flags.best_of.value_or(1);
  options.beam_size = flags.beam_size.value_or(0);
  options.patience = flags.patience.value_or(1);
  options.length_penalty = flags.length_penalty.value_or(-1);
  return {};
}

}  // namespace tutti
