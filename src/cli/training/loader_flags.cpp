#include "cli/training/loader_flags.h"

#include <algorithm>
#include <map>

#include "base/numbers.h"
#include "cli/settings/values.h"

namespace tutti {
namespace {

const std::map<std::string, std::string> kAnswers{
    {"num-workers", "there are no loader processes: a batch is gathered by index in one thread, ahead of the steps"},
    {"pin-memory", "no effect: batches for a GPU are pinned anyway"},
    {"persistent-workers", "no effect: there are no loader processes to keep"},
    {"stage-dir", "no effect: the set is mapped, and stays in memory as far as that has space; put SET itself there"},
    {"profile-performance", "no effect: times of steps and waits are measured always, see OUT/metrics.jsonl"},
    {"profile-gpu-util",
     "no effect: the load of the GPU is measured always, see the progress line and "
     "OUT/metrics.jsonl"},
};

constexpr const char* kPrefetch = "prefetch-factor";
constexpr std::int64_t kMostDepth = 1000;

std::string depth_answer(const std::string& name, std::int64_t depth, std::int64_t batch_bytes) {
  auto answer = name + ": becomes ring-depth " + std::to_string(depth) + ", batches ready for the steps to come";
  if (batch_bytes > 0) answer += "; at most " + fixed_text(static_cast<double>(depth * batch_bytes) / 1e6, 0) + " MB";
  return answer;
}

}  // namespace

FlagWord flag_at(const std::vector<std::string>& words, std::size_t i, const std::string& prefix) {
  const auto equals = std::min(words[i].find('='), words[i].size());
  FlagWord flag{.name = with_hyphens(words[i].substr(0, equals))};
  const auto start = "--" + with_hyphens(prefix);
  flag.name = flag.name.starts_with(start) ? flag.name.substr(start.size()) : std::string();
  if (equals < words[i].size()) {
    flag.value = words[i].substr(equals + 1);
  } else if (i + 1 < words.size() && !words[i + 1].starts_with("-")) {
    flag.value = words[i + 1];
    flag.words = 2;
  }
  return flag;
}

std::optional<std::string> loader_answer(const std::string& name) {
  const auto known = kAnswers.find(name);
  return known == kAnswers.end() ? std::nullopt : std::optional(known->second);
}

Result<LoaderFlags> without_loader_flags(const std::vector<std::string>& words, const std::string& prefix,
                                         std::int64_t batch_bytes) {
  LoaderFlags taken;
  for (std::size_t i = 0; i < words.size();) {
    const auto flag = flag_at(words, i, prefix);
    const auto shown = words[i].substr(0, words[i].find('='));
    const auto known = kAnswers.find(flag.name);
    const bool is_kept = flag.name == "num-workers" && !prefix.empty();  // the feed of Whisper has threads
    if (!is_kept && known != kAnswers.end()) {
      taken.answers.push_back(shown + ": " + known->second);
    } else if (flag.name == kPrefetch) {
      const auto depth = number_in<std::int64_t>(flag.value.value_or(""));
      if (!depth || *depth < 1 || *depth > kMostDepth)
        return fail(Fault::usage, shown + ": expected 1 to 1000, found '" + flag.value.value_or("") + "'");
      taken.words.insert(taken.words.end(), {"--ring-depth", std::to_string(*depth)});
      taken.answers.push_back(depth_answer(shown, *depth, batch_bytes));
    } else {
      taken.words.push_back(words[i++]);
      continue;
    }
    i += flag.words;
  }
  return taken;
}

}  // namespace tutti
