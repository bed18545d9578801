#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti wer --ref F --hyp F`: word and character error rates, equal to jiwer's.
int run_wer(const std::vector<std::string>& arguments);

}  // namespace tutti
