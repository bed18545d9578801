#include "cli/training/trainer_names.h"

#include <algorithm>
#include <map>

#include "cli/settings/values.h"

namespace tutti {
namespace {

const std::map<std::string, std::vector<std::string>> kOurs{
    {"--data-dir", {"--data"}},
    {"--output-dir", {"--out"}},
    {"--model-gpu", {"--device"}},
    {"--model-name", {"--model"}},
    {"--model-name-or-path", {"--model"}},
    {"--per-device-train-batch-size", {"--batch-size"}},
    {"--gradient-accumulation-steps", {"--accumulation"}},
    {"--num-epochs", {"--epochs"}},
    {"--num-train-epochs", {"--epochs"}},
    {"--logging-steps", {"--log-steps"}},
    {"--save-total-limit", {"--keep"}},
    {"--lr-scheduler-type", {"--schedule"}},
    {"--max-grad-norm", {"--clip"}},
    {"--dataloader-num-workers", {"--threads"}},
    {"--preprocessing-num-workers", {"--threads"}},
    {"--fp16", {"--precision", "float16"}},
    {"--bf16", {"--precision", "bfloat16"}},
    {"--tf32", {"--precision", "tf32"}},
};

using Chosen = std::map<std::string, std::pair<std::string, std::string>>;  // setting -> its value, by which name

/// Notes what a switch chooses.
Result<void> note(const std::string& name, const std::vector<std::string>& words, Chosen& chosen) {
  const auto& [value, by] = chosen.try_emplace(words[0], words[1], name).first->second;
  if (value == words[1]) return {};
  return fail(Fault::usage, by + " and " + name + ": " + words[0] + " is either " + value + " or " + words[1],
              "Leave out one of them");
}

/// Elsewhere -1 steps are all of them, which is 0 here.
std::vector<std::string> with_our_values(std::vector<std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (with_hyphens(words[i]) == "--max-steps=-1") words[i] = "--max-steps=0";
    if (i > 0 && words[i] == "-1" && with_hyphens(words[i - 1]) == "--max-steps") words[i] = "0";
  }
  return words;
}

/// In other trainers one flag states that there is a checkpoint to go on from, or names it.
std::vector<std::string> with_our_resume(std::vector<std::string> words) {
  constexpr std::string_view kTheirs = "--resume-from-checkpoint";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto equals = std::min(words[i].find('='), words[i].size());
    if (with_hyphens(words[i].substr(0, equals)) != kTheirs) continue;
    const std::string given = words[i].substr(equals);  // with its '='
    const std::string named = !given.empty() ? given.substr(1) : i + 1 < words.size() ? words[i + 1] : "";
    bool wanted = false;
    const bool is_switch = named.empty() || named.starts_with("-") || read_value(named, wanted);
    words[i] = (is_switch ? "--resume" : "--resume-from") + given;
  }
  return words;
}

/// Whether the switch at `words[i]` is on. Elsewhere switches are given values, too: behind '=', or as the next word,
/// which is then taken.
Result<bool> is_on(const std::vector<std::string>& words, std::size_t& i) {
  const auto equals = words[i].find('=');
  bool wanted = true;
  if (equals == std::string::npos) {
    if (i + 1 < words.size() && read_value(words[i + 1], wanted)) ++i;
    return wanted;
  }
  if (auto read = read_value(words[i].substr(equals + 1), wanted); !read) return fail_in(words[i], read.error());
  return wanted;
}

}  // namespace

Result<std::vector<std::string>> in_our_names(const std::vector<std::string>& arguments) {
  std::vector<std::string> ours;
  Chosen chosen;
  const auto words = with_our_resume(with_our_values(arguments));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    const auto equals = std::min(word.find('='), word.size());
    const auto found = kOurs.find(word.starts_with("--") ? with_hyphens(word.substr(0, equals)) : word);
    if (found == kOurs.end()) {
      ours.push_back(word);
      continue;
    }
    const bool is_switch = found->second.size() > 1;
    if (is_switch) {
      const auto on = is_on(words, i);
      if (!on) return tl::unexpected<Error>(on.error());
      if (!*on) continue;
      if (auto noted = note(found->first, found->second, chosen); !noted) return tl::unexpected<Error>(noted.error());
    }
    ours.insert(ours.end(), found->second.begin(), found->second.end());
    if (!is_switch) ours.back() += word.substr(equals);
  }
  return ours;
}

}  // namespace tutti
