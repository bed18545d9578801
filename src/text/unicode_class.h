#pragma once

namespace tutti {

/// Unicode 16's \p{L}.
bool is_letter(char32_t value);
/// Unicode 16's \p{N}.
bool is_number(char32_t value);
/// Unicode's property White_Space, which is \s in the expression that splits text for the tokenizer.
bool is_white_space(char32_t value);

}  // namespace tutti
