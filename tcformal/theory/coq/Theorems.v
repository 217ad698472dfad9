(** All theorems about designs, each proved once for all numbers of terms, fraction bits and formats.  The axioms are those of
    Coq's classical reals ([Print Assumptions]). *)
From TC Require Export Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Zeros Large Again DownAgain ProductSums Operands Odd Stages DownIdle ProductRounding Apart Flushes Composed Factors TreeForms
  Losses Accumulated Exponents Trees Whole Summations Exact Orders StepNans Unrolled FlushedC NormalProducts Inlined Paths Growth FromZero Groups GroupTerms
  RoundedTerms Calls PieceErrors OrderedCalls Sticky Regions Rises Exactness Down DownChains DownMirror FrameErrors OtherSums.
