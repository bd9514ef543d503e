"""What no engine evaluates: misspelt names, and values that are never the same.

An expression that is not done here may be done by Spark, which takes long to start.
"""

import re
from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from deltaweb.conditions.sql import COMPARISONS
from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.schema import DataType, PrimitiveType, StructType
from deltaweb.expressions.errors import UNSETTLED, ExpressionMistakenError

_NAMES: Final = """
abs acos acosh add_months aes_decrypt aes_encrypt aggregate and any any_value
approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
approx_top_k_combine approx_top_k_estimate array array_agg array_append array_compact
array_contains array_distinct array_except array_insert array_intersect array_join
array_max array_min array_position array_prepend array_remove array_repeat array_size
array_sort array_union arrays_overlap arrays_zip ascii asin asinh assert_true atan atan2
atanh avg base64 between bigint bin binary bit_and bit_count bit_get bit_length bit_or
bit_xor bitmap_and_agg bitmap_bit_position bitmap_bucket_number bitmap_construct_agg
bitmap_count bitmap_or_agg bool_and bool_or boolean bround btrim cardinality case cast
cbrt ceil ceiling char char_length character_length chr coalesce collate collation
collations collect_list collect_set concat concat_ws contains conv convert_timezone corr
cos cosh cot count count_if count_min_sketch covar_pop covar_samp crc32 csc cume_dist
curdate current_catalog current_database current_date current_path current_schema
current_time current_timestamp current_timezone current_user date date_add date_diff
date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart
day dayname dayofmonth dayofweek dayofyear decimal decode degrees dense_rank div double
e element_at elt encode endswith equal_null every exists exp explode explode_outer expm1
extract factorial filter find_in_set first first_value flatten float floor forall
format_number format_string from_avro from_csv from_json from_protobuf from_unixtime
from_utc_timestamp from_xml get get_json_object getbit greatest grouping grouping_id
hash hex histogram_numeric hll_sketch_agg hll_sketch_estimate hll_union hll_union_agg
hour hypot if ifnull ilike in initcap inline inline_outer input_file_block_length
input_file_block_start input_file_name instr int is_valid_utf8 is_valid_variant
is_variant_null isnan isnotnull isnull java_method json_array_length json_object_keys
json_tuple kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float
kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kll_sketch_get_n_bigint
kll_sketch_get_n_double kll_sketch_get_n_float kll_sketch_get_quantile_bigint
kll_sketch_get_quantile_double kll_sketch_get_quantile_float kll_sketch_get_rank_bigint
kll_sketch_get_rank_double kll_sketch_get_rank_float kll_sketch_merge_bigint
kll_sketch_merge_double kll_sketch_merge_float kll_sketch_to_string_bigint
kll_sketch_to_string_double kll_sketch_to_string_float kurtosis lag last last_day
last_value lcase lead least left len length levenshtein like listagg ln localtimestamp
locate log log10 log1p log2 lower lpad ltrim luhn_check make_date make_dt_interval
make_interval make_time make_timestamp make_timestamp_ltz make_timestamp_ntz
make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries map_filter
map_from_arrays map_from_entries map_keys map_values map_zip_with mask max max_by md5
mean measure median min min_by minute mod mode monotonically_increasing_id month
monthname months_between named_struct nanvl negative next_day not now nth_value ntile
nullif nullifzero nvl nvl2 octet_length or overlay parse_json parse_url percent_rank
percentile percentile_approx percentile_cont percentile_disc pi pmod posexplode
posexplode_outer position positive pow power printf python_worker_logs quarter quote
radians raise_error rand randn random randstr range rank reduce reflect regexp
regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace
regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
regr_sxy regr_syy repeat replace reverse right rint rlike round row_number rpad rtrim
schema_of_avro schema_of_csv schema_of_json schema_of_variant schema_of_variant_agg
schema_of_xml sec second sentences sequence session_user session_window sha sha1 sha2
shiftleft shiftright shiftrightunsigned shuffle sign signum sin sinh size skewness slice
smallint some sort_array soundex space spark_partition_id split split_part sql_keywords
sqrt st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid stack startswith std
stddev stddev_pop stddev_samp str_to_map string string_agg struct substr substring
substring_index sum tan tanh theta_difference theta_intersection theta_intersection_agg
theta_sketch_agg theta_sketch_estimate theta_union theta_union_agg time time_bucket
time_diff time_from_micros time_from_millis time_from_seconds time_to_micros
time_to_millis time_to_seconds time_trunc timestamp timestamp_micros timestamp_millis
timestamp_seconds tinyint to_avro to_binary to_char to_csv to_date to_json to_number
to_protobuf to_time to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp
to_utc_timestamp to_varchar to_variant_object to_xml transform transform_keys
transform_values translate trim trunc try_add try_aes_decrypt try_avg try_divide
try_element_at try_make_interval try_make_timestamp try_make_timestamp_ltz
try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url try_reflect
try_subtract try_sum try_to_binary try_to_date try_to_number try_to_time
try_to_timestamp try_url_decode try_validate_utf8 try_variant_get
tuple_difference_double tuple_difference_integer tuple_difference_theta_double
tuple_difference_theta_integer tuple_intersection_agg_double
tuple_intersection_agg_integer tuple_intersection_double tuple_intersection_integer
tuple_intersection_theta_double tuple_intersection_theta_integer tuple_sketch_agg_double
tuple_sketch_agg_integer tuple_sketch_estimate_double tuple_sketch_estimate_integer
tuple_sketch_summary_double tuple_sketch_summary_integer tuple_sketch_theta_double
tuple_sketch_theta_integer tuple_union_agg_double tuple_union_agg_integer
tuple_union_double tuple_union_integer tuple_union_theta_double
tuple_union_theta_integer typeof ucase unbase64 unhex uniform unix_date unix_micros
unix_millis unix_seconds unix_timestamp upper url_decode url_encode user uuid
validate_utf8 var_pop var_samp variance variant_explode variant_explode_outer
variant_get vector_avg vector_cosine_similarity vector_inner_product vector_l2_distance
vector_norm vector_normalize vector_sum version weekday weekofyear when width_bucket
window window_time xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long
xpath_number xpath_short xpath_string xxhash64 year zeroifnull zip_with
"""
SPARK_FUNCTIONS: Final = frozenset(_NAMES.split())


def meant_functions(name: str) -> list[str]:
    """Return the functions that a name is one slip of the hand away from.

    None for the name of a function, in letters of whatever case.
    """
    written = name.lower()
    if written in SPARK_FUNCTIONS:
        return []
    return sorted(known for known in SPARK_FUNCTIONS if _is_one_slip(written, known))


def _is_one_slip(one: str, other: str) -> bool:
    """Tell whether a letter is missing, too much, another, or before its neighbour."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    are_swapped = one[1:] == other[:1] and other[1:] == one[:1]
    return (len(one) <= 1 and len(other) <= 1) or are_swapped


_LISTS: Final = (exp.In, exp.Between, exp.Like, exp.ILike)
_BARE_DAY: Final = re.compile(r"\d{4} - \d{1,2} - \d{1,2}")
_TIMES: Final = tuple(map(PrimitiveType, ("date", "timestamp", "timestamp_ntz")))
_UNSETTLED: Final = (exp.Rand, exp.Randn, exp.Uuid)
_WITHOUT_PARENTHESES: Final = frozenset(
    {
        "current_catalog",
        "current_database",
        "current_schema",
        "current_time",
        "localtimestamp",
        "user",
    }
)
"""Functions of Spark that the parser takes for columns."""


def refuse_mistakes(sql: str, tree: exp.Expr, schema: StructType) -> None:
    """Refuse an expression that cannot be right for rows of a schema."""
    if tree.find(*_UNSETTLED):
        raise ExpressionMistakenError(sql=sql, reason=UNSETTLED)
    for function in tree.find_all(exp.Anonymous):
        _refuse_misspelt(sql, function)
    for column in tree.find_all(exp.Column):
        names = [*_names(column)]
        if names and not _leads_somewhere(names, schema):
            fault = ColumnNotFoundError(column=".".join(names), columns=schema.names)
            reason = fault.message[:1].lower() + fault.message[1:].rstrip(".")
            quotes = _quotes_hint(column)
            hint = f"{quotes} {fault.hint}" if quotes else fault.hint
            raise ExpressionMistakenError(sql=sql, reason=reason, hint=hint)
    for difference in tree.find_all(exp.Sub):
        _refuse_bare_day(sql, difference, schema)


_COMPARED: Final = (*COMPARISONS, *_LISTS)


def _compared(value: exp.Expr) -> exp.Expr | None:
    """Return what a value is compared with, or itself where it comes first."""
    beside = value.parent
    if beside is None or not isinstance(beside, _COMPARED):
        return None
    first: exp.Expr = beside.this
    return first


def _quotes_hint(column: exp.Column) -> str:
    """Say how a text is written, where a name may be meant as one: `country = DE`.

    So may be the whole of a new value.
    """
    first = _compared(column)
    is_value = column.parent is None or (first is not None and first is not column)
    if not is_value or len(column.parts) > 1 or column.this.quoted:
        return ""
    return f"A text stands in quotes: '{column.name}'."


def _refuse_bare_day(sql: str, difference: exp.Sub, schema: StructType) -> None:
    """Refuse a day without quotes beside one: 2026-11-10 is 2005."""
    day, column = difference.sql(), _compared(difference)
    if not isinstance(column, exp.Column) or not _BARE_DAY.fullmatch(day):
        return
    if _type_at([*_names(column)], schema) in _TIMES:
        written = "-".join(part.rjust(2, "0") for part in day.split(" - "))
        reason = f"{day} is a number"
        hint = f"A day stands in quotes: '{written}'."
        raise ExpressionMistakenError(sql=sql, reason=reason, hint=hint)


def _refuse_misspelt(sql: str, function: exp.Anonymous) -> None:
    """Refuse what is nearly a function of Spark; others may be those of a cluster."""
    is_qualified = isinstance(function.parent, exp.Dot)
    meant = meant_functions(function.name)
    if meant and not is_qualified:
        reason = f"there is no function {function.name!r}"
        hint = f"Did you mean {' or '.join(map(repr, meant))}?"
        raise ExpressionMistakenError(sql=sql, reason=reason, hint=hint)


def _names(column: exp.Column) -> Iterator[str]:
    for part in column.parts:
        if isinstance(part, exp.Star):
            return
        yield part.name


def _leads_somewhere(names: list[str], schema: StructType) -> bool:
    """Tell whether names may lead to a value; inside lists and maps all do."""
    if len(names) == 1 and names[0].lower() in _WITHOUT_PARENTHESES:
        return True
    return _type_at(names, schema) is not None


def _type_at(names: list[str], schema: StructType) -> DataType | None:
    """Return the type that names lead to, of what holds it in lists and maps."""
    data_type: DataType = schema
    for name in names:
        if not isinstance(data_type, StructType):
            return data_type
        column = data_type.find(name)
        if column is None:
            return None
        data_type = column.data_type
    return data_type
