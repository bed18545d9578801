#pragma once

#include <functional>
#include <set>
#include <span>
#include <vector>

#include "decode/device_token_selector.h"

namespace tutti {

using TokenSelector =
    std::function<std::vector<Selection>(const StepRows&, std::span<const Sequence>, const DecodingTokens&)>;

/// A selector for whole steps that has to prove itself: the first step of every kind (with searches, with draws, with
/// prompts) is selected row by row on the host as well. Where the two do not agree the host's selection holds, and the
/// device selector is not trusted any more; one line of the log reports that.
class VerifiedTokenSelector {
 public:
  explicit VerifiedTokenSelector(TokenSelector selector = at_device());

  /// False: the logits are to be brought to the host from now on.
  bool trusted() const { return trusted_; }
  /// As DeviceTokenSelector::select_tokens.
  std::vector<Selection> select_tokens(const StepRows& step, std::span<const Sequence> live,
                                       const DecodingTokens& tokens);

 private:
  static TokenSelector at_device();

  TokenSelector selector_;
  std::set<int> known_{};  // kinds of steps that were compared
  bool trusted_ = true;
};

/// As DeviceTokenSelector::select_tokens, row by row on the host.
std::vector<Selection> select_on_host(const StepRows& step, std::span<const Sequence> live,
                                      const DecodingTokens& tokens);

/// Whether two selections are one but for rounding: where the second was narrow, another token may win.
bool agree(const Selection& found, const Selection& wanted);

}  // namespace tutti
