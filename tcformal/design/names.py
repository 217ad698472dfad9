"""Names of designs: `UNIT`, `UNIT@name=value,…`, `FAMILY@name=value,…`, aliases, and `tree@steps=…`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from functools import cache

from tcformal.callbacks import hear
from tcformal.checks import check_choice, check_int, check_text, read_int, shown, unknown_sentence
from tcformal.design.aliases import ALIASES, unaliased
from tcformal.design.arithmetic import NVIDIA_NAN
from tcformal.design.catalog import catalogue
from tcformal.design.other_names import in_units_words, other_name, sparse_names
from tcformal.design.rounding import EXACT_SUM, MOST_PRODUCTS, NUMBERS, random_word
from tcformal.design.short_names import alias, processor, processor_names, unsettled, with_format
from tcformal.design.spec import Design, Operands
from tcformal.design.trees.tree import PLAIN, STAGE_PARAMETERS, Tree, Value, read_steps
from tcformal.design.unit import Evidence, Fact, UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.custom import split_names
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError, TcformalError, UnknownNameError

#: Families of designs that no instruction names, with what each stands for.
FAMILIES: dict[str, str] = {
    "valpey": "n-term accumulator over products normalised to fp32 (VALPEY Algorithm 1); terms counts c",
    "tfdpa": "truncated fused dot product and add (XIE Algorithm 7)",
    "sequential": "chain of IEEE-style additions of exact products, each rounded",
    "tree": "sums in the order steps=(0..3+c), exact and rounded to nearest; STAGE.name=value for one stage",
}

#: Those that sum integers, too, which wrap unless the name says otherwise.
_OF_INTEGERS = ("sequential", "tree")

_OPTIONAL = [name for name, field in Design.__dataclass_fields__.items() if field.default is None]
#: How parameters follow one another in a name, in which kept answers have them.
_ORDER = (
    "products", "summation", "c_position", "fraction_bits", "c_fraction_bits", "e_max_of",
    "alignment_rounding", "c_alignment_rounding", "c_bits", "second_fraction_bits", "normalised", "minus_one",
    "normalise_products", "zero_exponent", "carry_bits", "accumulation", "lost_bits", "zero_words",
    "vanished_c", "aligned_group", "zero_terms", "exponent_step", "order", "normalise_operands",
    "operand_rounding", "a_bits", "b_bits",
    "piece_bits", "dropped_pieces", "negated", "group", "group_exponent", "zero_group", "product_limit",
    "sum_fraction_bits", "sum_rounding", "operand_subnormals", "b_subnormals", "c_subnormals",
    "result_subnormals", "product_rounding", "accumulator", "conversion", "nan_word", "special_words",
    "nan_rule",
    "factor_nan_word", "zero_sign", "overflow",
)  # fmt: skip
_INTEGERS = (*NUMBERS, "zero_exponent", "group")
#: Arm instructions whose arithmetic FPCR.EBF chooses; without a choice, EBF=0.
_ARM = ("arm/bfdot", "arm/bfmmla", "arm/bfmopa")
_FORMATS = ("a_format", "b_format", "c_format", "d_format")
_CONVERSION_OF = {"fp64": "FP64", "fp32": "FP32", "fp16": "FP16", "bf16": "BF16"}


#: Names that an error shows of those that fit.
_SHOWN = 4

#: What a name may say of the order of summation as a tree, beside parameters of stages.
_OF_TREES = ("steps", "converted")


def _design_names() -> list[str]:
    return list(Design.__dataclass_fields__)


def gives_back(spec: UnitSpec) -> bool:
    """Whether a unit's name resolves to an equal unit."""
    try:
        return resolve(spec.name) == spec
    except TcformalError:
        return False


def resolve(name: str, *, drawn: bool = False) -> UnitSpec:
    """The unit or design with this name.

    With `drawn`, a stochastic rounding may draw its words, as in `rounding=SR8`: such a design has many
    results, and is refused elsewhere.

    Errors: UnknownNameError for a unit, family or parameter that does not exist, with the closest
    names, or for an instruction that only the compiler knows; InputError for a value that the
    parameter cannot take.
    """
    check_text("the name of a unit", name)
    base, at, text = name.strip().partition("@")
    base, settings = unaliased(base, _settings(text, name) if at else {})
    if not drawn and (words := drawn_words(name)):
        raise InputError(
            f"expected the word that is added, as in {words[0]}+0, but got {words[0]}: eval alone takes a "
            "design that draws its words, one at a time, and says every result with its chance"
        )
    if base in FAMILIES:
        return _family(name, base, settings)
    units = catalogue()
    if base in _ARM and base not in units:
        base += f".ebf{check_choice('ebf', settings.pop('ebf', '0'), ('0', '1'))}"
    asked, supposed = "", ""
    if base not in units:
        found = other_name(base, units) or alias(base)
        if found is None:
            raise UnknownNameError(_unknown_unit(base))
        # A sparse instruction and the dense one are not the same: an answer may be about both.
        hear(found.unit, found.name, str(found), shown=not found.supposed)
        base, asked, supposed = found.unit, found.name + at + text, found.supposed
        name = f"{base}@{text}" if at else base
    spec = units[base]
    if supposed:
        spec = replace(spec, facts=dict.fromkeys(spec.facts, Fact(supposed, Evidence.INFERRED)))
    if settings:
        spec = _altered(name, spec, settings)
    return replace(spec, asked=asked) if asked else spec


def named_together(names: Iterable[str]) -> list[str]:
    """Names of designs that are compared: a plain computation has the formats and K of the first unit.

    A plain computation is an alias such as `fma`; one whose name says a format or its products keeps them.

    Examples:
        >>> named_together(["mi300x:bf16", "fma", "fma@a_format=bf16"])
        ['mi300x:bf16', 'fma@k=16,a_format=bf16,b_format=bf16', 'fma@a_format=bf16,k=16']
    """
    given = [check_text("the name of a unit", name).strip() for name in names]
    plain = [name for name in given if name.partition("@")[0] in ALIASES]
    first = next((name for name in given if name not in plain), None)
    if first is None or not plain:
        return given
    unit = resolve(first, drawn=True)
    usual = {f"{x}_format": fmt for x, fmt in zip("abcd", ("fp16", "fp16", "fp32", "fp32"), strict=True)}
    formats = {f"{x}_format": fmt for x, fmt in unit.operands.names().items()}
    own = {key: fmt for key, fmt in formats.items() if fmt != usual[key]}

    def completed(name: str) -> str:
        base, at, text = name.partition("@")
        settings = _settings(text, name) if at else {}
        more: dict[str, str] = {}
        if not {"k", "products", "terms"} & set(settings):
            more["k"] = str(unit.k)
        if not {"format", *_FORMATS} & set(settings):
            more |= own
        said = ",".join(filter(None, (text, *(f"{key}={value}" for key, value in more.items()))))
        return f"{base}@{said}" if said else base

    return [completed(name) if name in plain else name for name in given]


def drawn_words(name: str) -> list[str]:
    """The stochastic roundings in a design's name that draw their words.

    Examples:
        >>> drawn_words("tfdpa@conversion=SR8-FP32,product_rounding=SR4+3-FP16")
        ['SR8']
    """
    values = (item.partition("=")[2].strip() for item in split_names(name.partition("@")[2]))
    modes = (value.upper().partition("-")[0] for value in values)
    return [x for x in modes if x.startswith("SR") and (random_word(x) or (0, 0))[1] is None]


def _unknown_unit(base: str) -> str:
    """The reason why a unit name is invalid: emulated on that architecture, or unknown, with what fits."""
    arch, slash, instruction = base.partition("/")
    units = catalogue()
    emulated = f"{arch}/emulated.{instruction}"
    if emulated in units:
        return (
            f"expected a hardware instruction, but the compiler emulates {instruction} on {arch} with other "
            f"instructions: the composition is named {emulated}"
        )
    if (why := unsettled(base)) is not None:
        return why
    if fitting := with_format(base.lower()) or _fitting(in_units_words(base)):
        some = ", ".join(fitting[:_SHOWN]) + (f", … ({len(fitting)})" if len(fitting) > _SHOWN else "")
        return f"expected a known unit, but got {shown(base)}: the closest are {some}"
    # A name of floating-point operands is not near to one of integers.
    near = [n for n in units if n.startswith(arch + "/") and (".s32." in n) <= (".s32." in base)]
    near = near or list(units)
    if not slash:
        _, colon, rest = base.lower().partition(":")
        near = [f"{name}{colon}{rest}" for name in processor_names()]
    return unknown_sentence("unit", base, [*near, *FAMILIES, *ALIASES]) + "; tcformal units lists all"


def _fitting(base: str) -> list[str]:
    """Units with all words of a name, or that begin so; of several architectures one each."""
    words = [re.sub(r"^fp(?=16$|32$|64$)", "f", x) for x in re.split(r"[/.:\s]+", base.lower()) if x]
    if not words:
        return []
    if (name := processor(words[0])) is not None:
        words[0] = processor_names()[name][0]
    begun, fitting, asked = [], [], Counter(words)
    begins = (base.lower(), f"v_{base.lower()}")
    for name, parts in _parts_of_names():
        if parts == words:
            return [name]
        if len(parts) > len(words) and asked <= Counter(parts):
            fitting.append(name)
        elif name.lower().startswith(begins) or name.lower().partition("/")[2].startswith(begins):
            begun.append(name)
    found = sorted(fitting or begun, key=lambda name: "/emulated." in name)
    if any(name.startswith(words[0] + "/") for name in found):
        return found
    return list({name.partition("/")[0]: name for name in reversed(found)}.values())[::-1]


@cache
def _parts_of_names() -> list[tuple[str, list[str]]]:
    """Every unit's name and every sparse instruction's, and its parts in small letters."""
    names = (*catalogue(), *sparse_names(catalogue()))
    return [(name, re.split(r"[/.:]+", name.lower())) for name in names]


def _settings(text: str, name: str) -> dict[str, str]:
    """Parse `a=1,b=2` into a dictionary."""
    settings: dict[str, str] = {}
    for item in split_names(text):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key or not value:
            raise InputError(f"expected parameters as name=value after @ in {name!r}, but got {item!r}")
        if key in settings:
            raise InputError(f"expected each parameter once in {name!r}, but got {key} twice")
        settings[key] = value
    return settings


def _parsed(key: str, value: str) -> Value:
    """Parse the value of one design parameter."""
    if key in _OPTIONAL and value in ("exact", "none"):
        return None
    if key == "zero_exponent" and value in ("own", "none"):
        return value
    if key in _INTEGERS:
        return read_int(key, value)
    if key in ("conversion", "accumulator", "product_rounding", "operand_rounding"):
        return value.upper()
    if key.startswith("normalise"):
        return check_choice(key, value.lower(), ("true", "false")) == "true"
    return value


def _design_settings(settings: dict[str, str], name: str, extra: tuple[str, ...]) -> dict[str, Value]:
    """Parse design parameters, with shorthands expanded."""
    names = [*extra, *_ORDER, "terms", "align_bits", "rounding", *_OF_TREES, "scale"]
    parsed: dict[str, Value] = {}
    for key, value in settings.items():
        check_choice(f"parameter of {name.partition('@')[0]}", key, names)
        if key in extra or key == "rounding":
            continue
        if key == "terms":
            parsed["products"] = check_int("terms", read_int(key, value), low=2, high=MOST_PRODUCTS + 1) - 1
        elif key == "align_bits":
            parsed["fraction_bits"] = 23 + check_int("align_bits", read_int(key, value), low=0, high=64)
        else:
            parsed[key] = _parsed(key, value)
    for short, long in (("terms", "products"), ("align_bits", "fraction_bits")):
        if short in settings and long in settings:
            raise InputError(f"expected {short} or {long} in {name!r}, but got both")
    return parsed


def _completed(base: Mapping[str, Value], given: Mapping[str, Value]) -> Design:
    """A design from defaults and given parameters; dependent parameters follow the given ones."""
    merged = {**base, **given}
    if "summation" in given and "c_position" not in given:
        places = {"fused": "joined", "sequential": "first"}
        merged["c_position"] = places.get(str(merged["summation"]), "last")
    in_one = merged["summation"] in ("tr", "gtr")
    if not in_one and "summation" in given and "sum_fraction_bits" not in given:
        merged["sum_fraction_bits"] = None
    if "accumulator" not in given and merged["c_fraction_bits"] is None:
        if merged["c_position"] in ("joined", "after") or in_one:
            merged["accumulator"] = None
        elif merged["accumulator"] is None:
            merged["accumulator"] = merged["conversion"]
    if "factor_nan_word" not in given:
        of_c = merged["nan_rule"] == "products_c"
        merged["factor_nan_word"] = (merged["factor_nan_word"] or merged["nan_word"]) if of_c else None
    if merged["fraction_bits"] is None:
        for key, neutral in EXACT_SUM.items():
            if key not in given:
                merged[key] = neutral
    return Design(**merged)  # type: ignore[arg-type]


def _altered(name: str, unit: UnitSpec, settings: dict[str, str]) -> UnitSpec:
    """A catalogued unit with altered parameters."""
    of_scales, block = unit.scale_format, unit.scale_block
    if "scale" in settings:
        of_scales, block = read_scale(settings.pop("scale"))
    of_tree = _of_tree(settings)
    if of_tree and "steps" not in of_tree and unit.tree is not None:
        # Parameters of stages alone leave the order of summation as it is.
        of_stages = {f"{stage}.{x}": _text(x, value) for stage, x, value in unit.tree.settings}
        wide = unit.tree.converted
        own = {"steps": str(unit.tree.root), "converted": "none" if wide is None else wide.name}
        of_tree = own | of_stages | of_tree
    if of_tree:
        of_tree.setdefault("nan_rule", settings.pop("nan_rule", unit.design.nan_rule))
    settings_parsed = _design_settings(settings, name, ())
    if "rounding" in settings:
        settings_parsed = {**_rerounded(settings["rounding"], unit.design.parameters()), **settings_parsed}
    changed = Fact("given in the name", Evidence.CHOSEN)
    facts = {**unit.facts, **dict.fromkeys(settings_parsed, changed)}
    base, made = unit.design.parameters(), unit.tree
    if of_tree:
        made = _tree(of_tree, name)
        base |= _tree_parameters(made, settings_parsed)
    return replace(
        unit, name=name.strip(), design=_completed(base, settings_parsed), tree=made, facts=facts,
        scale_format=of_scales, scale_block=block,
    )  # fmt: skip


def _of_tree(settings: dict[str, str]) -> dict[str, str]:
    """Remove and return the settings that describe a tree."""
    names = [key for key in settings if key in _OF_TREES or "." in key]
    return {key: settings.pop(key) for key in names}


def _tree(settings: dict[str, str], name: str) -> Tree:
    """The tree that the settings `steps`, `converted` and stage parameters describe."""
    if "steps" not in settings:
        raise InputError(f"expected an order of summation such as steps=(0..3+c) in {name!r}, but got none")
    rows = []
    for key, value in settings.items():
        stage, dot, parameter = key.partition(".")
        if dot:
            check_choice("parameter of a stage", parameter, STAGE_PARAMETERS)
            rows.append((stage, parameter, _parsed(parameter, value)))
    converted = settings.get("converted", "none")
    wide = None if converted == "none" else format_named(converted)
    return Tree(read_steps(settings["steps"]), tuple(rows), wide, settings.get("nan_rule", "word"))


def _tree_parameters(made: Tree, given: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters that a tree implies; InputError for a second order of summation."""
    for key in ("products", *PLAIN):
        if key in given:
            raise InputError(f"expected no {key} beside steps, but got {given[key]}")
    return {**PLAIN, "products": made.k}


def read_scale(text: str) -> tuple[Format | None, int | None]:
    """The format and the block of FORMAT/BLOCK, `ue8m0/32`; None twice for `none`.

    Errors: InputError for another text.
    """
    if text == "none":
        return None, None
    name, _, block = text.partition("/")
    if not block.isascii() or not block.isdecimal() or not 0 < int(block[:9]) == int(block):
        raise InputError(f"expected FORMAT/BLOCK as scales, such as ue8m0/32, but got {text!r:.80}")
    return format_named(name.strip()), int(block)


def tree_name(spec: UnitSpec, design: Design, made: Tree) -> str:
    """The name `tree@steps=…` of a design on a unit's formats that sums in the order of a tree."""
    operands = spec.operands
    settings = {"steps": str(made.root)}
    if made.converted is not None:
        settings["converted"] = made.converted.name
    if made.nan_rule != "word":
        settings["nan_rule"] = made.nan_rule
    settings |= {f"{stage}.{name}": _text(name, value) for stage, name, value in made.settings}
    usual = {**_family_defaults("tree", operands), **PLAIN, "products": made.k}
    own = {name: value for name, value in design.parameters().items() if value != usual[name]}
    settings |= {name: _text(name, own[name]) for name in sorted(own, key=_ORDER.index)}
    settings |= {f"{letter}_format": name for letter, name in operands.names().items()}
    if spec.scale_format is not None:
        settings["scale"] = f"{spec.scale_format.name}/{spec.scale_block}"
    return "tree@" + ",".join(f"{key}={value}" for key, value in settings.items())


def _text(name: str, value: object) -> str:
    """A parameter's value as text in a name."""
    if value is None:
        return "exact" if name in ("fraction_bits", "carry_bits") else "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:#x}" if name.endswith("nan_word") else str(value)


def _rerounded(mode: str, parameters: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters that the shorthand rounding=MODE sets: the same shapes in another mode."""
    texts = {key: parameters[key] for key in ("conversion", "accumulator") if parameters[key] is not None}
    return {key: f"{mode.upper()}-{str(text).partition('-')[2]}" for key, text in texts.items()}


def _family(name: str, family: str, settings: dict[str, str]) -> UnitSpec:
    """A design of a named family on given formats."""
    formats = {"a_format": "fp16", "b_format": "fp16", "c_format": "fp32", "d_format": "fp32"}
    if "format" in settings:
        formats = dict.fromkeys(_FORMATS, settings.pop("format"))
    formats |= {key: settings[key] for key in _FORMATS if key in settings}
    operands = Operands(**{key[0]: format_named(value) for key, value in formats.items()})
    _check_result(family, operands.d)
    of_scales, block = read_scale(settings.pop("scale", "none"))
    of_tree = _of_tree(settings)
    if of_tree or family == "tree":
        of_tree |= {key: settings.pop(key) for key in ("nan_rule",) if key in settings}
    given = _design_settings(settings, name, (*_FORMATS, "k"))
    base = _family_defaults(family, operands)
    if "rounding" in settings:
        given = {**_rerounded(settings["rounding"], base), **given}
    if family == "tree":
        last = check_int("k", read_int("k", settings.get("k", "4")), low=1, high=MOST_PRODUCTS) - 1
        of_tree.setdefault("steps", f"(0..{last}+c)" if last else "(0+c)")
    made = _tree(of_tree, name) if of_tree else None
    if made is not None:
        base |= _tree_parameters(made, given)
    design = _completed(base, given)
    k = check_int("k", read_int("k", settings.get("k", str(design.products))), low=1, high=MOST_PRODUCTS)
    source = Fact(FAMILIES[family], Evidence.CHOSEN)
    return UnitSpec(
        name=name.strip(), m=1, n=1, k=k, operands=operands, design=design, tree=made,
        scale_format=of_scales, scale_block=block,
        facts=dict.fromkeys(_design_names(), source),
    )  # fmt: skip


def _check_result(family: str, d: Format) -> None:
    """Raise InputError for a result format that no conversion of a family produces."""
    if d.integer and family in _OF_INTEGERS:
        return
    if d.integer:
        raise InputError(
            f"expected one of the families {' and '.join(_OF_INTEGERS)} for {d.name}, but got {family}"
        )
    if d.specials is not Specials.IEEE or d.bias != (1 << (d.exponent_bits - 1)) - 1 or d.ignored_low_bits:
        raise InputError(
            f"expected for d_format {', '.join(_CONVERSION_OF)}, or one with Inf and NaN and the bias of "
            f"IEEE 754 such as e6m9, but got {d.name}"
        )


def _family_defaults(family: str, operands: Operands) -> dict[str, Value]:
    """The default parameters of each family."""
    d = operands.d
    if d.integer:
        wrap = f"WRAP-{d.name.upper()}"
        return {f.name: f.default for f in fields(Design) if f.default is not MISSING} | {
            "products": 4, "summation": "sequential", "c_position": "first", "accumulator": wrap,
            "conversion": wrap, "nan_word": 0,
        }  # fmt: skip
    target = _CONVERSION_OF.get(d.name, f"E{d.exponent_bits}M{d.fraction_bits}")
    quiet = d.infinity | 1 << (d.fraction_bits + d.ignored_low_bits - 1)
    mode = "RNE" if d.name == "fp16" else "RZ"
    base: dict[str, Value] = {f.name: f.default for f in fields(Design) if f.default is not MISSING}
    if not d.subnormals:
        base["result_subnormals"] = "signed_zero"
    if family == "valpey":
        # fp32 terms: a zero has fp32's smallest exponent; Algorithm 1 truncates, RNE for fp16.
        return base | {
            "products": 4, "fraction_bits": 23, "normalise_products": True, "zero_exponent": -126,
            "conversion": f"{mode}-{target}", "nan_word": quiet,
        }  # fmt: skip
    if family == "tfdpa":
        return base | {
            "products": 8, "fraction_bits": 24, "zero_exponent": -20 if d.name == "fp16" else -132,
            "conversion": f"{mode}-{target}", "nan_word": NVIDIA_NAN.get(d.name, quiet),
        }  # fmt: skip
    return base | {
        "products": 4, "summation": "sequential", "c_position": "first", "accumulator": f"RNE-{target}",
        "conversion": f"RNE-{target}", "nan_word": quiet, "zero_sign": "ieee", "overflow": "ieee",
    }  # fmt: skip
