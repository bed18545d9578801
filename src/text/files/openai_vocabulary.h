#pragma once

#include <cstdint>
#include <string_view>

namespace tutti {

/// The .tiktoken file that OpenAI's models of this vocabulary size were trained with, built into the program: their .pt
/// files carry weights only. 51864 and less: GPT-2's, for English; more: the multilingual one.
std::string_view openai_vocabulary(std::int32_t n_vocab);

}  // namespace tutti
