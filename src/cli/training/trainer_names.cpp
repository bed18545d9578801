#include "cli/training/trainer_names.h"

#include <algorithm>
#include <map>

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
    {"--resume-from-checkpoint", {"--resume"}},
    {"--fp16", {"--precision", "float16"}},
    {"--bf16", {"--precision", "bfloat16"}},
    {"--tf32", {"--precision", "tf32"}},
};

std::string with_hyphens(std::string flag) {
  std::ranges::replace(flag, '_', '-');
  return flag;
}

}  // namespace

std::vector<std::string> in_our_names(const std::vector<std::string>& arguments) {
  std::vector<std::string> ours;
  for (const auto& word : arguments) {
    const auto equals = std::min(word.find('='), word.size());
    const auto found = kOurs.find(word.starts_with("--") ? with_hyphens(word.substr(0, equals)) : word);
    if (found == kOurs.end()) {
      ours.push_back(word);
      continue;
    }
    ours.insert(ours.end(), found->second.begin(), found->second.end());
    ours.back() += word.substr(equals);
  }
  return ours;
}

}  // namespace tutti
