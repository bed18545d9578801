#pragma once

#include <string>
#include <string_view>

#include "text/speech/english_cursor.h"

namespace tutti {

// Numbers and what they count, written out. What is named read_… writes what begins at the next token and stands on the
// last token of it afterwards; false where there is none of its kind.

/// A number at the front of `text`: "12", "1,234", "3.14", ".5"; empty where there is none.
std::string_view number_at_front(std::string_view text);

std::string without_commas(std::string_view digits);

/// Whether four digits are read as a year: 1100 to 2099.
bool may_be_year(std::string_view digits);

/// "+44 20 7946 0958" digit by digit, whatever its groups look like, and "(212) 555-0199".
bool read_telephone(EnglishCursor& text);

/// What digit_group_words knows: versions, addresses, ratios.
bool read_groups(EnglishCursor& text);

/// "$3.50", "£20", "$1.5 million", "£2m", "$5-10", "$-5", "5 €", "$20/hr". An amount in two tokens is one token
/// afterwards, also where it is not read.
bool read_money(EnglishCursor& text);

/// "12", "1,234.5", "-3", "50%", "21st", "1980s", "1/2", "10-20", "1.5-2%", "5km", "2 1/2 cups". False also for a
/// number that other characters follow ("5abc"); its minus is written then, and the token is the rest.
bool read_number(EnglishCursor& text);

}  // namespace tutti
