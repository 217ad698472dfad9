(** Parameters of single sums of a design, in a tree of sums too, that cannot matter: what is known of the operands of each sum
    (how long their significands are, how small their exponents) decides it. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values
  Irrelevant AtOnce Mirror Axes Signs Zeros Large Operands Odd.
Import ListNotations.
Open Scope Z_scope.

(** * What is known of an operand of a sum *)

(** A number without a leading 1: a zero, or a subnormal one. *)
Definition low_sig (x : num) : bool := is_zero x || (sig x <? 2 ^ frac x).

(** A bound of its significand, its least exponent, that of a power of two of which it is a multiple, its largest exponent, that of
    numbers without a leading 1, and its fraction bits. *)
Record bounds := { shape_of : shape; lowest : Z; grid : Z; upto : Z; low_upto : Z; width : Z }.

Definition under (b : bounds) (x : num) : Prop := exp x <= if low_sig x then low_upto b else upto b.

Definition inside (b : bounds) (v : val) : Prop := forall x, v = Num x ->
  fits' (shape_of b) x /\ lowest b <= exp x /\ multiple (grid b) x /\ under b x /\ frac x <= width b.

(** The largest exponent of a format's numbers. *)
Definition format_top (f : format) : Z := Z.max (least f) (2 ^ ebits f - (match special f with IEEE => 2 | _ => 1 end) - bias f).

Definition format_bounds (f : format) : bounds :=
  {| shape_of := number_shape (fbits f); lowest := least f; grid := least f - fbits f; upto := format_top f; low_upto := least f;
     width := fbits f |}.
Definition result_bounds (c : conversion) : bounds :=
  {| shape_of := number_shape (p c); lowest := emin c; grid := emin c - p c; upto := emax c; low_upto := emin c; width := p c + 1 |}.
Definition range_ok (c : conversion) : bool := (0 <=? p c) && (emin c <=? emax c).

Lemma decode_top f w x : format_ok f = true -> decode f w = Num x -> exp x <= format_top f.
Proof.
  intros O H. unfold format_ok in O. apply andb_prop in O. destruct O as [O1 O2]. apply Z.leb_le in O1, O2. unfold decode in H.
  set (code := ((w / 2 ^ ignored f) mod 2 ^ (ebits f + fbits f))) in *. pose proof (pow2_pos (fbits f) O1) as P.
  assert (C : 0 <= code < 2 ^ (ebits f + fbits f)) by (apply Z.mod_pos_bound; apply pow2_pos; lia).
  set (e := code / 2 ^ fbits f) in *. set (t := code mod 2 ^ fbits f) in *.
  assert (Ee : 0 <= e < 2 ^ ebits f).
  { split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; auto. rewrite <- Z.pow_add_r by lia. rewrite (Z.add_comm (fbits f)). lia. }
  remember (1 - bias f) as m eqn:Em. assert (L : m <= least f + 1 /\ (has_zero f = true -> m = least f)) by (unfold least; destruct (has_zero f); lia).
  unfold format_top. destruct (special f); [destruct (Z.eqb_spec e (2 ^ ebits f - 1)); [destruct (t =? 0); easy|]| | |];
    try (destruct (code =? _); [easy|]); try (destruct (_ && (code =? 0)); [easy|]);
    (destruct (_ && has_zero f) eqn:Z; injection H as <-; cbn [exp]; [apply andb_prop in Z; destruct Z as [_ Z]; apply L in Z; lia|lia]).
Qed.

Lemma decode_under f w x : format_ok f = true -> decode f w = Num x -> under (format_bounds f) x.
Proof.
  intros O H. pose proof (decode_top f w x O H) as T. unfold under. destruct (low_sig x) eqn:L; [|exact T]. cbn [low_upto format_bounds].
  destruct (decode_num _ _ _ O H) as [[S _] [F [_ [G|G]]]]; [|lia]. unfold format_ok in O. apply andb_prop in O. destruct O as [O _]. apply Z.leb_le in O.
  pose proof (pow2_pos (fbits f) O). unfold low_sig, is_zero in L. rewrite F in L. apply orb_prop in L. destruct L as [L|L]; [apply Z.eqb_eq in L|apply Z.ltb_lt in L]; lia.
Qed.

Lemma decode_inside f w : format_ok f = true -> inside (format_bounds f) (decode f w).
Proof.
  intros O x H. destruct (decode_num _ _ _ O H) as [_ [F [L _]]]. split; [|split; [|split; [|split]]]; auto.
  - apply decode_fits with f w; auto. lia.
  - apply multiple_lsb. cbn. unfold lsb. lia.
  - now apply decode_under with w.
  - cbn. lia.
Qed.

Lemma convert_grid c s n u z : range_ok c = true -> convert c s n u = Num z -> emin c - p c <= lsb z.
Proof.
  unfold range_ok. intros O. apply andb_prop in O. destruct O as [P M]. apply Z.leb_le in P, M.
  unfold convert. set (ex := last_bit c n u). assert (E : emin c - p c <= ex) by (unfold ex, last_bit; destruct (n =? 0); lia).
  destruct (_ || _); [intros H; injection H as <-; unfold lsb; cbn; lia|].
  destruct (emax c <? _); [cbv zeta; match goal with |- (if ?b then _ else _) = _ -> _ => destruct b end; [easy|]|];
    intros H; injection H as <-; unfold lsb; cbn [exp frac]; lia.
Qed.

Lemma convert_inside c s n u : range_ok c = true -> inside (result_bounds c) (convert c s n u).
Proof.
  intros O x H. pose proof O as O'. unfold range_ok in O'. apply andb_prop in O'. destruct O' as [P M]. apply Z.leb_le in P, M. split; [|split; [|split; [|split]]].
  - eapply convert_fits; eauto. lia.
  - pose proof (convert_exp_min _ _ _ _ _ H P). cbn. lia.
  - apply multiple_lsb. eapply convert_grid; eauto.
  - destruct (convert_shape _ _ _ _ _ P M H) as [[_ E] Sh]. unfold under. destruct (low_sig x) eqn:L; cbn [upto low_upto result_bounds]; [|lia].
    pose proof (pow2_pos (p c) P) as P2. unfold low_sig, is_zero in L.
    destruct Sh as [[F [S [X|X]]]|[F S]]; [lia| |]; exfalso; rewrite F in L; apply orb_prop in L;
      (destruct L as [L|L]; [apply Z.eqb_eq in L|apply Z.ltb_lt in L]); lia.
  - destruct (convert_shape _ _ _ _ _ P M H) as [_ [[F _]|[F _]]]; cbn; lia.
Qed.

Lemma sum_inside d vs : range_ok (out d) = true -> inside (result_bounds (out d)) (sum_values d vs).
Proof.
  intros O x H. unfold sum_values in H. destruct (numbers vs) as [ts|]; [|exfalso; now apply (special_not_num vs x)].
  unfold sum_numbers in H. eapply convert_inside; eauto.
Qed.

Lemma subnormal_low x : is_subnormal x = true -> low_sig x = true.
Proof.
  unfold is_subnormal, low_sig. intros H. apply andb_prop in H. destruct H as [_ H]. apply Z.ltb_lt in H.
  destruct (Z_le_gt_dec (sig x) 0) as [G|G].
  - destruct (is_zero x) eqn:Q; [reflexivity|]. unfold is_zero in Q. apply Z.eqb_neq in Q. apply Z.ltb_lt.
    pose proof (Z.pow_nonneg 2 (frac x)). lia.
  - rewrite (proj2 (Z.ltb_lt _ _)); [apply orb_true_r|]. apply Z.log2_lt_pow2; lia.
Qed.

Lemma flush_inside r b v : kept_or_zero r = true -> inside b v -> inside b (flush r v).
Proof.
  intros K H x E. destruct v as [y| |]; try easy. unfold flush in E. destruct (is_subnormal y) eqn:Q; [|now apply H].
  destruct (H y eq_refl) as [[A B] [C [D [U W]]]]. unfold under in U. rewrite (subnormal_low y Q) in U.
  assert (Z : forall n, fits' (shape_of b) {| neg := n; sig := 0; exp := exp y; frac := frac y |}).
  { intros n. split; cbn [sig frac]; [lia|]. rewrite Rmult_0_l. eapply Rle_trans; [|exact B].
    apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]. }
  cbn [negb] in E. destruct r; try easy; injection E as <-; [now apply H| |]; (split; [apply Z|split; [exact C|split; [now apply multiple_zero|split; [exact U|exact W]]]]).
Qed.


(** * What is known of all operands of a sum *)

Definition least_of (f : bounds -> Z) (bs : list bounds) : Z := match bs with [] => 0 | b :: r => fold_right Z.min (f b) (map f r) end.

Lemma least_of_le f bs b : In b bs -> least_of f bs <= f b.
Proof.
  destruct bs as [|a r]; [easy|]. cbn. intros H. destruct (fold_min (f a) (map f r)) as [G1 G2]. destruct H as [->|H]; auto. apply G2. now apply in_map.
Qed.

Definition most_of (f : bounds -> Z) (bs : list bounds) : Z := - least_of (fun b => - f b) bs.

Lemma most_of_ge f bs b : In b bs -> f b <= most_of f bs.
Proof. intros H. unfold most_of. pose proof (least_of_le (fun b => - f b) bs b H). cbn beta in H0. lia. Qed.

(** The largest count of an operand, which a rounding that is not toward zero makes larger by one. *)
Definition count_bound (m : mode) (f : Z) (b : bounds) : Z := top f (shape_of b) + match m with RZ => 0 | _ => 1 end.

Definition shapes_ok (bs : list bounds) : bool := forallb (fun b => 0 <=? fst (shape_of b)) bs.

(** Operands of which some bounds hold, or fewer. *)
Definition covered (bs : list bounds) (vs : list val) : Prop :=
  exists cs, Forall2 inside cs vs /\
    (Forall (fun c => In c bs) cs /\ (length cs <= length bs)%nat) /\
    forall g, (forall b, 0 <= fst (shape_of b) -> 0 <= g b) -> shapes_ok bs = true -> zsum (map g cs) <= zsum (map g bs).

Lemma covered_all bs vs : Forall2 inside bs vs -> covered bs vs.
Proof.
  intros H. exists bs. split; auto. split; [split; [now apply Forall_forall|lia]|lia].
Qed.

Lemma inside_numbers cs vs ts : Forall2 inside cs vs -> numbers vs = Some ts ->
  Forall2 (fun b x => fits' (shape_of b) x /\ lowest b <= exp x /\ multiple (grid b) x /\ under b x /\ frac x <= width b) cs ts.
Proof.
  intros H. unfold numbers. destruct (forallb is_num vs) eqn:N; [|easy]. intros E. injection E as <-. revert N.
  induction H as [|b v cs vs A H IH]; cbn [forallb map]; intros N; constructor.
  - apply andb_prop in N. destruct N as [N _]. destruct v as [x| |]; try easy. cbn. now apply A.
  - apply IH. now apply andb_prop in N.
Qed.

(** ** The exponent of zeros *)

(** It is below those of all others, or where it is the largest one nothing is cut off. *)
Definition idle_zero (bs : list bounds) (d : sum) : bool :=
  negb (normalise d) &&
  (carry_sane d && zero_below d (least_of lowest bs) ||
   match fraction_bits d, carry_bits d with
   | Some f, None => match zero_exponent d with ZeroNone => true | ZeroAt z => z - f <=? least_of grid bs
                     | ZeroOwn => most_of low_upto bs - f <=? least_of grid bs end
   | _, _ => false
   end).

Lemma covered_numbers bs vs ts : covered bs vs -> numbers vs = Some ts ->
  forall x, In x ts -> least_of lowest bs <= exp x /\ multiple (least_of grid bs) x /\
    exp x <= (if low_sig x then most_of low_upto bs else most_of upto bs) /\ frac x <= most_of width bs /\ 0 <= sig x /\
    exists b, In b bs /\ fits' (shape_of b) x.
Proof.
  intros [cs [I [[L _] _]]] E. pose proof (inside_numbers _ _ _ I E) as F. clear I E.
  induction F as [|c x cs ts [S [A [B [U W]]]] F IH]; [easy|]. inversion L as [|? ? Hc]; subst. intros y [<-|Hy]; [|now apply IH].
  pose proof (least_of_le lowest bs c Hc). pose proof (least_of_le grid bs c Hc). pose proof (most_of_ge upto bs c Hc). pose proof (most_of_ge low_upto bs c Hc).
  pose proof (most_of_ge width bs c Hc).
  split; [lia|]. split; [now apply multiple_le with (grid c)|]. unfold under in U. split; [destruct (low_sig x); lia|]. split; [lia|]. split; [apply S|]. now exists c.
Qed.

Lemma zero_low x : is_zero x = true -> low_sig x = true.
Proof. unfold low_sig. now intros ->. Qed.

Lemma idle_zero_ok bs d vs : idle_zero bs d = true -> covered bs vs -> sum_values d vs = sum_values (with_zero d ZeroNone) vs.
Proof.
  intros O C. unfold idle_zero in O. apply andb_prop in O. destruct O as [N O]. apply negb_true_iff in N.
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:E; auto. pose proof (covered_numbers _ _ _ C E) as F. apply orb_prop in O. destruct O as [O|O].
  - apply andb_prop in O. destruct O as [S Z]. apply zero_exponent_irrelevant with (least_of lowest bs); auto.
    apply Forall_forall. intros x Hx _. now apply F.
  - destruct (fraction_bits d) as [f|] eqn:Fb; [|easy]. destruct (carry_bits d) eqn:K; [easy|].
    apply sum_zero_cut with f; auto. intros x e a Hx Zx Te Ha. destruct (F a Ha) as [_ [G _]]. destruct (F x Hx) as [_ [_ [U _]]]. rewrite (zero_low x Zx) in U.
    apply multiple_le with (least_of grid bs); auto. unfold term_exponent in Te. rewrite Zx in Te. destruct (zero_exponent d); try easy; injection Te as <-; apply Z.leb_le in O; lia.
Qed.

(** ** Sums that cut nothing off *)

Definition exact_of (d : sum) : sum :=
  {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := out d |}.

Definition idle_cut (bs : list bounds) (d : sum) : bool :=
  match fraction_bits d, carry_bits d with
  | None, _ => true
  | Some f, None => negb (normalise d) && (Z.max (most_of upto bs) (most_of low_upto bs) - f <=? least_of grid bs) &&
                    match zero_exponent d with ZeroAt z => z - f <=? least_of grid bs | _ => true end
  | _, _ => false
  end.

Lemma exact_multiples d ts : fraction_bits d = None -> Forall (multiple (unit_of d ts)) ts.
Proof. intros F. unfold unit_of. rewrite F. apply Forall_forall. intros t I. now apply multiple_lsb, least_below. Qed.

Lemma idle_cut_ok bs d vs : idle_cut bs d = true -> covered bs vs -> sum_values d vs = sum_values (exact_of d) vs.
Proof.
  intros O C. unfold sum_values. destruct (numbers vs) as [ts|] eqn:E; auto. pose proof (covered_numbers _ _ _ C E) as F.
  apply multiples_agree; auto using exact_multiples, no_carry_exact.
  - unfold idle_cut in O. destruct (fraction_bits d) as [f|] eqn:Fb; [|now apply exact_multiples]. destruct (carry_bits d); [easy|].
    repeat rewrite andb_true_iff in O. destruct O as [[N O] Z]. apply negb_true_iff in N. apply Z.leb_le in O. apply Forall_forall. intros a Ha.
    destruct (F a Ha) as [_ [G _]]. destruct (largest d ts) as [e|] eqn:L; [|now apply multiple_zero, (largest_none d ts)].
    apply multiple_le with (least_of grid bs); auto. unfold unit_of. rewrite Fb, L.
    destruct (largest_attained d ts e L) as [x [Hx Te]]. destruct (F x Hx) as [_ [_ [U _]]]. unfold term_exponent in Te. rewrite N in Te.
    destruct (is_zero x) eqn:Zx; [rewrite (zero_low x Zx) in U; destruct (zero_exponent d); try easy; injection Te as <-; apply Z.leb_le in Z || idtac; lia|].
    injection Te as <-. destruct (low_sig x); lia.
  - unfold idle_cut, exact_total, total in *. destruct (carry_bits d); auto. now destruct (fraction_bits d).
Qed.

(** ** Carry bits *)

Lemma cut_away m u x : Z.abs (cut m u x) <= Z.abs (cut RZ u x) + match m with RZ => 0 | _ => 1 end.
Proof.
  unfold cut. set (e := u - lsb x). generalize (signed x) as n. intros n. rewrite !round_div_unfold. destruct (Z.leb_spec e 0); [destruct m; lia|].
  assert (P : 0 < 2 ^ e) by (apply Z.pow_pos_nonneg; lia). destruct (Z.eqb_spec (n mod 2 ^ e) 0); [destruct m; lia|].
  pose proof (Z.div_mod n (2 ^ e) ltac:(lia)). pose proof (Z.mod_pos_bound n (2 ^ e) P).
  assert (S : n < 0 -> n / 2 ^ e < 0) by (intros; apply Z.div_lt_upper_bound; lia).
  assert (T : 0 <= n -> 0 <= n / 2 ^ e) by (intros; apply Z.div_pos; lia).
  destruct (Z.ltb_spec n 0); destruct m; try destruct (Z.even _); try destruct (_ ?= _); try destruct (Z.even _); try destruct (random_carry _ _ _ _); lia.
Qed.

Definition idle_carry (bs : list bounds) (d : sum) : bool :=
  match fraction_bits d, carry_bits d with
  | Some f, Some k => negb (normalise d) && shapes_ok bs && (0 <=? f) && (0 <=? k) && (zsum (map (count_bound (alignment d) f) bs) <? 2 ^ (f + 1 + k))
  | _, _ => false
  end.

Lemma count_bound_nonneg m f b x : fits' (shape_of b) x -> 0 <= count_bound m f b.
Proof. intros F. pose proof (top_nonneg' f _ _ F). unfold count_bound. destruct m; lia. Qed.

Lemma idle_carry_ok bs d vs : idle_carry bs d = true -> covered bs vs -> sum_values d vs = sum_values (with_carry d None) vs.
Proof.
  intros O [cs [I [_ T]]]. unfold idle_carry in O. destruct (fraction_bits d) as [f|] eqn:F; [|easy]. destruct (carry_bits d) as [k|] eqn:K; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[[[N Sh] F0] K0] B]. apply negb_true_iff in N. apply Z.leb_le in F0, K0. apply Z.ltb_lt in B.
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:E; auto. pose proof (inside_numbers _ _ _ I E) as G.
  assert (X : total d ts = total (with_carry d None) ts).
  { unfold total. cbn [fraction_bits carry_bits with_carry]. rewrite F, K. change (counts (with_carry d None) ts) with (counts d ts).
    apply wrap_small; [lia|]. replace (1 + (f + 1 + k) - 1) with (f + 1 + k) by lia.
    assert (Q : Z.abs (zsum (counts d ts)) <= zsum (map (count_bound (alignment d) f) cs)).
    { unfold counts, unit_of. rewrite F. destruct (largest d ts) as [e|] eqn:Lg.
      - assert (H : Forall (fun x => is_zero x = true \/ exp x <= e) ts).
        { apply Forall_forall. intros x Hx. pose proof (largest_in d ts x Hx) as J. rewrite Lg in J.
          unfold term_exponent in J. rewrite N in J. destruct (is_zero x); simpl in J; auto. }
        clear Lg T E I. induction G as [|c x cs ts [Fx _] G IH]; [cbn; lia|]. inversion H; subst. specialize (IH H3).
        unfold zsum in *. cbn [map fold_right]. assert (Z.abs (cut (alignment d) (e - f) x) <= count_bound (alignment d) f c); [|lia].
        pose proof (cut_away (alignment d) (e - f) x). unfold count_bound. destruct H2 as [H2|H2].
        + rewrite cut_zero by auto. pose proof (top_nonneg' f _ _ Fx). destruct (alignment d); cbn; lia.
        + pose proof (count_le' f e _ _ Fx H2). lia.
      - rewrite zeros_count. rewrite zsum_zeros. cbn. clear -G. induction G as [|c x cs ts [Fx _] G IH]; [cbn; lia|].
        unfold zsum in *. cbn. pose proof (count_bound_nonneg (alignment d) f c x Fx). lia.
        apply forallb_forall. intros x Hx. now apply (largest_none d ts). }
    assert (zsum (map (count_bound (alignment d) f) cs) <= zsum (map (count_bound (alignment d) f) bs)); [|lia].
    apply T; auto. intros b Pos. unfold count_bound. pose proof (top_nonneg f (shape_of b) Pos). destruct (alignment d); lia. }
  unfold sum_numbers. rewrite X. reflexivity.
Qed.

(** ** Numbers that are written in another way *)

Definition near (lo : Z) (x y : num) : Prop := alike x y /\ (exp x = exp y \/ (exp x <= lo /\ exp y <= lo)).

Lemma alike_cut m u x y : alike x y -> cut m u x = cut m u y.
Proof.
  intros [_ H]. apply eq_IZR, Rmult_eq_reg_r with (bp u); [|pose proof (bpow_gt_0 radix2 u); lra]. now rewrite !cut_ok, H.
Qed.

(** Where exponents differ, nothing is cut off beside them. *)
Lemma near_sum d f lo g ts us : fraction_bits d = Some f -> zero_exponent d = ZeroNone -> carry_bits d = None -> normalise d = false ->
  lo - f <= g -> Forall (multiple g) ts -> Forall (multiple g) us -> Forall2 (near lo) ts us -> sum_numbers d ts = sum_numbers d us.
Proof.
  intros F Z K N G Mt Mu H.
  assert (A : Forall2 alike ts us) by (clear -H; induction H as [|x y ts us [Q _] H IH]; constructor; auto).
  set (top := fun o => match o with None => lo | Some e => Z.max lo e end).
  assert (T : top (largest d ts) = top (largest d us)).
  { assert (Om : forall a b, top (omax a b) = Z.max (top a) (top b)) by (intros [a|] [b|]; cbn; lia).
    unfold largest. clear -H Z N Om. induction H as [|x y ts us [Q E] H IH]; [reflexivity|]. cbn [map fold_right]. rewrite !Om, IH. f_equal.
    unfold term_exponent. rewrite Z, N, (alike_zero _ _ Q). destruct (is_zero y); cbn; lia. }
  assert (Low : forall l, Forall (multiple g) l -> top (largest d l) = lo -> Forall (multiple (unit_of d l)) l).
  { intros l M Q. apply Forall_forall. intros x Hx. destruct (largest d l) as [e|] eqn:L; [|now apply multiple_zero, (largest_none d l)].
    rewrite Forall_forall in M. apply multiple_le with g; [|now apply M]. unfold unit_of. rewrite F, L. cbn in Q. lia. }
  destruct (Z.eq_dec (top (largest d ts)) lo) as [Q|Q].
  - assert (E : forall l, Forall (multiple g) l -> top (largest d l) = lo -> sum_numbers d l = sum_numbers (exact_of d) l).
    { intros l M Ql. apply multiples_agree; auto using exact_multiples, no_carry_exact. }
    rewrite E, (E us) by (auto; congruence). now apply exact_alike.
  - assert (L : largest d ts = largest d us) by (destruct (largest d ts), (largest d us); cbn in *; try f_equal; lia).
    assert (U : unit_of d ts = unit_of d us) by (unfold unit_of; now rewrite F, L).
    assert (C : counts d ts = counts d us).
    { unfold counts. rewrite U. clear -A. generalize (unit_of d us) as u. intros u. induction A as [|x y ts us Q A IH]; [reflexivity|]. cbn [map]. f_equal; [now apply alike_cut|exact IH]. }
    unfold sum_numbers, total. rewrite C, U. f_equal. unfold sign_of.
    assert (B : forall q, forallb (fun x => q (neg x)) ts = forallb (fun x => q (neg x)) us) by (intros q; clear -A; induction A as [|x y ts us [Q _] A IH]; cbn; auto; now rewrite Q, IH).
    assert (X : existsb neg ts = existsb neg us) by (clear -A; induction A as [|x y ts us [Q _] A IH]; cbn; auto; now rewrite Q, IH).
    pose proof (B (fun b => b)) as B1. pose proof (B negb) as B2. cbn beta in B1, B2.
    change (forallb (fun x => neg x) ts) with (forallb neg ts) in B1. change (forallb (fun x => neg x) us) with (forallb neg us) in B1. now rewrite B1, B2, X.
Qed.

(** ** Two numbers that are aligned to odd *)

Definition idle_two (bs : list bounds) (d : sum) : bool :=
  match fraction_bits d, alignment d, carry_bits d with
  | Some f, RO, None => zero_none d && negb (normalise d) && Nat.leb (length bs) 2 && (0 <=? p (out d)) && (p (out d) + 2 + deciding_bits (rho (out d)) <=? f) && (most_of width bs + 2 <=? f) &&
      (most_of low_upto bs - f <=? least_of grid bs) && forallb (fun b => fst (shape_of b) <? 2 ^ (snd (shape_of b) + 1)) bs
  | _, _, _ => false
  end.

(** With the exponent of its leading bit. *)
Definition leading (x : num) : num :=
  if is_zero x then {| neg := neg x; sig := 0; exp := exp x; frac := 0 |}
  else {| neg := neg x; sig := sig x; exp := Z.log2 (sig x) + lsb x; frac := Z.log2 (sig x) |}.

Lemma leading_ok lo x : 0 <= sig x -> (IZR (sig x) * bp (- frac x) < 2)%R -> (low_sig x = true -> exp x <= lo) ->
  near lo x (leading x) /\ is_normal (leading x) /\ (is_zero x = false -> frac (leading x) <= frac x) /\ (forall g, multiple g x -> multiple g (leading x)).
Proof.
  intros S B Lo. unfold leading, near, alike, is_normal, multiple, V, lsb, signed. destruct (is_zero x) eqn:Z.
  - pose proof Z as Z'. unfold is_zero in Z. apply Z.eqb_eq in Z. rewrite Z. cbn. split; [split; [split; [reflexivity|destruct (neg x); cbn; rewrite !Rmult_0_l; reflexivity]|now left]|].
    split; [split; [lia|now left]|]. split; [easy|]. intros g _. destruct (neg x); apply Z.divide_0_r.
  - pose proof Z as Z'. unfold is_zero in Z. apply Z.eqb_neq in Z. destruct (Z.log2_spec (sig x)) as [L1 L2]; [lia|]. pose proof (Z.log2_nonneg (sig x)) as L0.
    assert (L : Z.log2 (sig x) <= frac x).
    { assert (Z.log2 (sig x) < frac x + 1); [|lia]. apply (lt_bpow radix2). apply IZR_le in L1. rewrite <- bp_Z in L1 by lia. eapply Rle_lt_trans; [exact L1|].
      apply Rmult_lt_reg_r with (bp (- frac x)); [apply bpow_gt_0|]. rewrite <- bpow_plus. replace (frac x + 1 + - frac x) with 1 by lia. exact B. }
    cbn [neg sig exp frac]. replace (Z.log2 (sig x) + (exp x - frac x) - Z.log2 (sig x)) with (exp x - frac x) by lia.
    split; [split; [auto|]|split; [split; [lia|right; replace (Z.log2 (sig x) + 1) with (Z.succ (Z.log2 (sig x))) by lia; lia]|split; [auto|auto]]].
    unfold low_sig in Lo. rewrite Z' in Lo. cbn [orb] in Lo. destruct (Z.ltb_spec (sig x) (2 ^ frac x)) as [Q|Q]; [specialize (Lo eq_refl); right; lia|].
    left. assert (frac x < Z.succ (Z.log2 (sig x))); [|lia]. apply (Z.pow_lt_mono_r_iff 2); lia.
Qed.

Lemma idle_two_ok bs d vs : idle_two bs d = true -> covered bs vs -> sum_values d vs = sum_values (exact_of d) vs.
Proof.
  intros O C. unfold idle_two in O. destruct (fraction_bits d) as [f|] eqn:F; [|easy]. destruct (alignment d) eqn:Al; try easy. destruct (carry_bits d) eqn:K; [easy|].
  repeat rewrite andb_true_iff in O. destruct O as [[[[[[[Zn N] Le] P] Pf] W] G] Sh]. apply negb_true_iff in N. apply Nat.leb_le in Le. apply Z.leb_le in P, Pf, W, G.
  assert (Z : zero_exponent d = ZeroNone) by (unfold zero_none in Zn; now destruct (zero_exponent d)).
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:E; auto. pose proof (covered_numbers _ _ _ C E) as H.
  assert (Len : (length ts <= 2)%nat).
  { destruct C as [cs [I [[_ L] _]]]. pose proof (inside_numbers _ _ _ I E) as Q. apply Forall2_length in Q. lia. }
  assert (B : forall x, In x ts -> (IZR (sig x) * bp (- frac x) < 2)%R).
  { intros x Hx. destruct (H x Hx) as [_ [_ [_ [_ [_ [b [Hb [_ Fb]]]]]]]]. rewrite forallb_forall in Sh. specialize (Sh b Hb). apply Z.ltb_lt in Sh.
    eapply Rle_lt_trans; [exact Fb|]. destruct (Z_lt_le_dec (snd (shape_of b) + 1) 0) as [Ng|Ng].
    - rewrite Z.pow_neg_r in Sh by lia. apply Rle_lt_trans with 0%R; [|lra]. assert (Q : (IZR (fst (shape_of b)) <= 0)%R) by (apply IZR_le; lia). pose proof (bpow_ge_0 radix2 (- snd (shape_of b))). nra.
    - apply IZR_lt in Sh. rewrite <- bp_Z in Sh by lia. replace 2%R with (bp (snd (shape_of b) + 1) * bp (- snd (shape_of b)))%R by (rewrite <- bpow_plus; replace (snd (shape_of b) + 1 + - snd (shape_of b)) with 1 by lia; reflexivity).
      apply Rmult_lt_compat_r; [apply bpow_gt_0|exact Sh]. }
  set (lo := most_of low_upto bs) in *. set (g := least_of grid bs) in *.
  assert (Ld : forall x, In x ts -> near lo x (leading x) /\ is_normal (leading x) /\ (is_zero x = false -> frac (leading x) <= frac x) /\ (forall g, multiple g x -> multiple g (leading x))).
  { intros x Hx. destruct (H x Hx) as [_ [_ [U [_ [S _]]]]]. apply leading_ok; auto. intros Q. now rewrite Q in U. }
  assert (Mt : Forall (multiple g) ts) by (apply Forall_forall; intros x Hx; now apply H).
  destruct ts as [|x [|y [|]]]; [| | |cbn in Len; lia].
  - apply multiples_agree; auto using no_carry_exact.
  - apply multiples_agree; auto using no_carry_exact, exact_multiples. constructor; [|constructor]. destruct (is_zero x) eqn:Zx; [now apply multiple_zero|].
    apply multiple_lsb. unfold unit_of, largest. rewrite F. cbn [map fold_right]. unfold term_exponent. rewrite Zx, N. cbn [omax]. unfold lsb.
    destruct (H x (or_introl eq_refl)) as [_ [_ [_ [Wx _]]]]. lia.
  - destruct (Ld x (or_introl eq_refl)) as [Nx [Rx [Fx Mx]]]. destruct (Ld y (or_intror (or_introl eq_refl))) as [Ny [Ry [Fy My]]].
    destruct (H x (or_introl eq_refl)) as [_ [_ [_ [Wx _]]]]. destruct (H y (or_intror (or_introl eq_refl))) as [_ [_ [_ [Wy _]]]].
    rewrite (near_sum d f lo g [x; y] [leading x; leading y]); auto.
    + assert (Fr : forall z, In z [x; y] -> frac (leading z) + 2 <= f).
      { pose proof (deciding_some (rho (out d))). intros z Hz. destruct (Ld z Hz) as [_ [_ [Fz _]]]. destruct (H z Hz) as [_ [_ [_ [Wz _]]]]. destruct (is_zero z) eqn:Zz; [unfold leading; rewrite Zz; cbn; lia|specialize (Fz eq_refl); lia]. }
      destruct (exact_two (exact_of d) d f eq_refl F Al Z K N eq_refl P Pf (leading x) (leading y) Rx Ry) as [Q _]; [apply Fr; cbn; auto|apply Fr; cbn; auto|].
      rewrite <- Q. apply exact_alike; [reflexivity|]. destruct Nx as [[A1 A2] _], Ny as [[B1 B2] _]. repeat constructor; congruence.
    + rewrite Forall_forall in Mt. repeat constructor; [apply Mx|apply My]; apply Mt; cbn; auto.
Qed.

(** ** The sign of a result that rounds to zero *)

Definition none {A} (o : option A) : bool := match o with None => true | _ => false end.

Definition with_zero_sign (c : conversion) (z : zero_sign) : conversion :=
  {| rho := rho c; p := p c; emin := emin c; emax := emax c; overflow := overflow c; flushes := flushes c; tiny := tiny c; zsign := z |}.

(** The lowest bit that a sum can have: that of its operands, or the least that alignment keeps. *)
Definition sum_grid (bs : list bounds) (d : sum) : Z :=
  match fraction_bits d with
  | Some f => if normalise d then least_of grid bs else Z.max (least_of grid bs) (least_of lowest bs - f)
  | None => least_of grid bs
  end.

(** Whether the largest operand is in the sum whole. *)
Definition keeps_largest (bs : list bounds) (d : sum) : bool :=
  match fraction_bits d with None => true | Some f => zero_none d && negb (normalise d) && (most_of width bs <=? f) end.

Lemma largest_kept bs d vs ts : keeps_largest bs d = true -> covered bs vs -> numbers vs = Some ts -> forallb (Z.eqb 0) (counts d ts) = true -> forallb is_zero ts = true.
Proof.
  unfold keeps_largest. intros O C E H. destruct (fraction_bits d) as [f|] eqn:F; [|now rewrite <- (multiples_zero d ts (exact_multiples d ts F))].
  repeat rewrite andb_true_iff in O. destruct O as [[Z N] W]. apply negb_true_iff in N. apply Z.leb_le in W. assert (Zn : zero_exponent d = ZeroNone) by (unfold zero_none in Z; now destruct (zero_exponent d)).
  destruct (largest d ts) as [e|] eqn:L; [|apply forallb_forall; intros x Hx; now apply (largest_none d ts)]. exfalso.
  destruct (largest_attained d ts e L) as [y [Hy Te]]. unfold term_exponent in Te. rewrite Zn, N in Te. destruct (is_zero y) eqn:Zy; [easy|]. injection Te as Te.
  destruct (covered_numbers _ _ _ C E y Hy) as [_ [_ [_ [Wy _]]]]. assert (U : unit_of d ts <= lsb y) by (unfold unit_of, lsb; rewrite F, L; lia).
  rewrite forallb_forall in H. specialize (H (cut (alignment d) (unit_of d ts) y) ltac:(unfold counts; now apply in_map)). apply Z.eqb_eq in H.
  pose proof (cut_ok (alignment d) (unit_of d ts) y) as Q. rewrite <- H, fix_rnd_multiple in Q by now apply multiple_lsb. unfold V in Q. pose proof (bpow_gt_0 radix2 (lsb y)).
  unfold is_zero in Zy. apply Z.eqb_neq in Zy. assert (S : signed y <> 0) by (unfold signed; destruct (neg y); lia). apply S, eq_IZR. nra.
Qed.

(** A sum of multiples of the least result rounds to zero only where it is zero; with a +0 among its operands ([fst z]) it is a +0, and
    with a number that is no -0 ([snd z]) where the largest one is not cut off. *)
Definition idle_sign (z : bool * bool) (bs : list bounds) (d : sum) : bool :=
  match carry_bits d, zsign (out d) with
  | None, SumSign => true
  | None, IeeeSign => (fst z || snd z && keeps_largest bs d) && match rho (out d) with RD => false | _ => true end
  | _, _ => false
  end && (negb (flushes (out d)) || (emin (out d) <=? sum_grid bs d)) && (0 <=? p (out d)) &&
  (match rho (out d) with RO => true | _ => false end || (emin (out d) - p (out d) <=? sum_grid bs d)).

Definition has_plus_zero (z : bool * bool) (vs : list val) : Prop :=
  (fst z = true -> exists x, In (Num x) vs /\ is_zero x = true /\ neg x = false) /\
  (snd z = true -> exists v, In v vs /\ forall x, v = Num x -> is_zero x = true -> neg x = false).

Lemma no_plus_zero vs : has_plus_zero (false, false) vs.
Proof. split; easy. Qed.

Lemma plus_zero_sign m ts ns : m <> RD -> (exists x, In x ts /\ neg x = false) -> sign_of m 0 ts ns = false.
Proof.
  intros M [x [Hx N]]. unfold sign_of. cbn [Z.eqb negb].
  assert (A : forallb neg ts = false) by (apply not_true_is_false; intros A; rewrite forallb_forall in A; specialize (A x Hx); congruence).
  rewrite A. cbn [orb]. destruct (forallb (Z.eqb 0) ns); cbn [andb]; [|now destruct m].
  destruct (forallb (fun y => negb (neg y)) ts) eqn:B; [|now destruct m]. apply not_true_is_false. intros C. apply existsb_exists in C.
  destruct C as [y [Hy Ny]]. rewrite forallb_forall in B. specialize (B y Hy). rewrite Ny in B. easy.
Qed.

Lemma odd_not_zero n e : n <> 0 -> round_div RO n e <> 0.
Proof.
  intros N. rewrite round_div_unfold. destruct (Z.leb_spec e 0) as [H|H]; [pose proof (pow_pos (- e) ltac:(lia)); nia|].
  pose proof (Z.div_mod n (2 ^ e) ltac:(apply Z.pow_nonzero; lia)) as Q. set (q := n / 2 ^ e) in *. destruct (Z.eqb_spec (n mod 2 ^ e) 0) as [M|M]; [intros Z; rewrite Z, M in Q; lia|].
  destruct (Z.even q) eqn:E; [intros Z; replace q with (-1) in E by lia; easy|intros Z; rewrite Z in E; easy].
Qed.

Lemma round_log m n e : n <> 0 -> e <= Z.log2 (Z.abs n) -> Z.log2 (Z.abs n) - e <= Z.log2 (Z.abs (round_div m n e)) /\ round_div m n e <> 0.
Proof.
  intros N E. rewrite round_div_ok. set (j := Z.log2 (Z.abs n) - e).
  assert (B : (IZR (2 ^ j) <= Rabs (IZR n * bp (- e)))%R).
  { rewrite Rabs_mult, (Rabs_pos_eq (bp (- e))) by apply bpow_ge_0. rewrite <- abs_IZR.
    destruct (Z.log2_spec (Z.abs n)) as [L _]; [lia|]. apply IZR_le in L. rewrite <- bp_Z in L |- * by (unfold j; try apply Z.log2_nonneg; lia).
    apply Rle_trans with (bp (Z.log2 (Z.abs n)) * bp (- e))%R.
    - rewrite <- bpow_plus. apply bpow_le. unfold j. lia.
    - apply Rmult_le_compat_r; [apply bpow_ge_0|exact L]. }
  assert (P : 0 < 2 ^ j) by (apply Z.pow_pos_nonneg; unfold j; lia).
  assert (G : 2 ^ j <= Z.abs (rnd m (IZR n * bp (- e)))).
  { destruct (Rle_or_lt 0 (IZR n * bp (- e))) as [S|S].
    - rewrite Rabs_pos_eq in B by auto. pose proof (@Zrnd_le (rnd m) (valid_rnd_mode m) _ _ B) as H. rewrite Zrnd_IZR in H by auto with typeclass_instances. lia.
    - rewrite Rabs_left in B by auto. assert (B' : (IZR n * bp (- e) <= IZR (- 2 ^ j))%R) by (rewrite opp_IZR; lra).
      pose proof (@Zrnd_le (rnd m) (valid_rnd_mode m) _ _ B') as H. rewrite Zrnd_IZR in H by auto with typeclass_instances. lia. }
  split; [|lia]. rewrite <- (Z.log2_pow2 j) by (unfold j; lia). now apply Z.log2_le_mono.
Qed.

(** A multiple of a power of two stays one when it is rounded. *)
Lemma round_multiple m n l u g : (2 ^ Z.max 0 (g - l) | n) -> (2 ^ Z.max 0 (g - u) | round_div m n (u - l)).
Proof.
  intros [q ->]. rewrite round_div_unfold. destruct (Z.leb_spec (u - l) 0) as [H|H].
  - rewrite <- Z.mul_assoc, <- Z.pow_add_r by lia. apply Z.divide_mul_r, pow_divides. lia.
  - destruct (Z.le_gt_cases g u) as [L|L]; [rewrite Z.max_l by lia; apply Z.divide_1_l|].
    replace (q * 2 ^ Z.max 0 (g - l)) with (q * 2 ^ (g - u) * 2 ^ (u - l)) by (rewrite <- Z.mul_assoc, <- Z.pow_add_r by lia; do 2 f_equal; lia).
    assert (P : 2 ^ (u - l) <> 0) by (apply Z.pow_nonzero; lia). rewrite Z.mod_mul, Z.div_mul by auto. cbn [Z.eqb].
    rewrite Z.max_r by lia. apply Z.divide_mul_r, Z.divide_refl.
Qed.

Lemma total_grid bs d vs ts : carry_bits d = None -> covered bs vs -> numbers vs = Some ts ->
  (2 ^ Z.max 0 (sum_grid bs d - unit_of d ts) | total d ts).
Proof.
  intros K Cv En. pose proof (covered_numbers _ _ _ Cv En) as F. unfold total. rewrite K. set (u := unit_of d ts).
  assert (Dv : (2 ^ Z.max 0 (least_of grid bs - u) | zsum (counts d ts))).
  { unfold counts. fold u. assert (D : forall x, In x ts -> multiple (least_of grid bs) x) by (intros x Hx; now apply F). clear -D.
    clearbody u. induction ts as [|x l IHl]; [apply Z.divide_0_r|]. unfold zsum in *. cbn [map fold_right]. apply Z.divide_add_r; [apply round_multiple, D; now left|].
    apply IHl. intros y Hy. apply D. now right. }
  unfold sum_grid. destruct (fraction_bits d) as [f|] eqn:Fb; auto. destruct (normalise d) eqn:Nd; auto. destruct (forallb is_zero ts) eqn:A.
  { unfold counts. rewrite zeros_count, zsum_zeros by auto. apply Z.divide_0_r. }
  assert (exists y, In y ts /\ is_zero y = false) as [y [Hy Ny]].
  { clear -A. induction ts as [|a r IHr]; cbn in *; [easy|]. destruct (is_zero a) eqn:Q; cbn in *.
    - destruct IHr as [y [? ?]]; auto. exists y; auto.
    - exists a; auto. }
  pose proof (largest_in d ts y Hy) as I2. unfold term_exponent in I2. rewrite Ny, Nd in I2. destruct (F y Hy) as [Ly _].
  assert (least_of lowest bs - f <= u) by (unfold u, unit_of; rewrite Fb; destruct (largest d ts); cbn in I2; [lia|easy]).
  eapply Z.divide_trans; [|exact Dv]. apply pow_divides. lia.
Qed.

(** What is at least the least normal number is not made a zero. *)
Lemma normal_sum c n u : 0 <= p c -> n <> 0 -> emin c <= Z.log2 (Z.abs n) + u ->
  (Z.log2 (Z.abs (round_div (rho c) n (last_bit c n u - u))) + last_bit c n u <? emin c) || tiny c && is_tiny c n u = false.
Proof.
  intros P N L. unfold last_bit, is_tiny. destruct (Z.eqb_spec n 0); [easy|]. rewrite Z.max_l by lia. set (e := Z.log2 (Z.abs n) + u - p c).
  destruct (round_log (rho c) n (e - u) N ltac:(unfold e; lia)) as [Lg _].
  destruct (Z.ltb_spec (Z.log2 (Z.abs (round_div (rho c) n (e - u))) + e) (emin c)); [unfold e in *; lia|]. cbn [orb]. apply andb_false_r.
Qed.

Lemma grid_log bs d vs ts : carry_bits d = None -> covered bs vs -> numbers vs = Some ts -> total d ts <> 0 ->
  sum_grid bs d <= Z.log2 (Z.abs (total d ts)) + unit_of d ts.
Proof.
  intros K Cv En N. destruct (total_grid bs d vs ts K Cv En) as [q Dv]. set (u := unit_of d ts) in *. set (n := total d ts) in *. assert (q <> 0) by (intros ->; lia).
  assert (Z.max 0 (sum_grid bs d - u) <= Z.log2 (Z.abs n)); [|lia].
  rewrite <- (Z.log2_pow2 (Z.max 0 (sum_grid bs d - u))) by lia. apply Z.log2_le_mono.
  assert (P2 : 0 < 2 ^ Z.max 0 (sum_grid bs d - u)) by (apply Z.pow_pos_nonneg; lia).
  rewrite Dv. revert P2. generalize (2 ^ Z.max 0 (sum_grid bs d - u)) as k. intros k Pk. rewrite Z.abs_mul, (Z.abs_eq k) by lia.
  rewrite <- (Z.mul_1_l k) at 1. apply Z.mul_le_mono_nonneg_r; lia.
Qed.

Lemma idle_sign_ok z bs d vs : idle_sign z bs d = true -> covered bs vs -> has_plus_zero z vs ->
  sum_values d vs = sum_values (with_out d (with_zero_sign (out d) Positive)) vs.
Proof.
  intros O Cv Pz. unfold idle_sign in O. repeat rewrite andb_true_iff in O. destruct O as [[[S F] P] G].
  apply Z.leb_le in P.
  assert (K : carry_bits d = None) by now destruct (carry_bits d).
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:En; [|reflexivity]. pose proof (covered_numbers _ _ _ Cv En) as F0.
  set (ns := counts d ts).
  assert (Zs : match zsign (out d) with IeeeSign => sign_of (rho (out d)) 0 ts ns = false | SumSign => True | Positive => False end).
  { rewrite K in S. destruct (zsign (out d)); try easy. apply andb_prop in S. destruct S as [Sz Sm]. assert (M : rho (out d) <> RD) by now destruct (rho (out d)).
    assert (It : forall x, In (Num x) vs -> In x ts).
    { intros x Hx. unfold numbers in En. destruct (forallb is_num vs); [|easy]. injection En as <-. change x with (num_of (Num x)). now apply in_map. }
    apply orb_prop in Sz. destruct Sz as [Sz|Sz].
    - destruct (proj1 Pz Sz) as [x [Hx [_ Nx]]]. apply plus_zero_sign; auto. exists x. auto.
    - apply andb_prop in Sz. destruct Sz as [Sz Fb]. destruct (proj2 Pz Sz) as [v [Hv Nv]].
      assert (Nu : exists x, v = Num x). { unfold numbers in En. destruct (forallb is_num vs) eqn:A; [|easy]. rewrite forallb_forall in A. specialize (A v Hv). destruct v; try easy. now eexists. }
      destruct Nu as [x ->]. specialize (Nv x eq_refl). destruct (is_zero x) eqn:Zx; [apply plus_zero_sign; auto; exists x; auto|].
      unfold sign_of. cbn [Z.eqb negb]. destruct (forallb (Z.eqb 0) ns) eqn:Q; [|now destruct (rho (out d))].
      pose proof (largest_kept bs d vs ts Fb Cv En Q) as A. rewrite forallb_forall in A. specialize (A x (It x Hv)). congruence. }
  unfold sum_numbers. set (d' := with_out d _). change (total d' ts) with (total d ts). change (counts d' ts) with (counts d ts).
  change (unit_of d' ts) with (unit_of d ts). change (rho (out d')) with (rho (out d)).
  set (n := total d ts). set (u := unit_of d ts). fold ns. set (s := sign_of _ n ts ns). unfold convert. cbn [out d' with_out with_zero_sign].
  change (last_bit (with_zero_sign (out d) Positive) n u) with (last_bit (out d) n u). cbn [rho p emin emax flushes tiny zsign with_zero_sign].
  change (is_tiny (with_zero_sign (out d) Positive) n u) with (is_tiny (out d) n u).
  destruct (Z.eq_dec n 0) as [N|N].
  - unfold s. rewrite N, !round_div_0. cbn [Z.eqb negb orb]. destruct (zsign (out d)); [easy|now rewrite Zs|reflexivity].
  - assert (M : sum_grid bs d <= Z.log2 (Z.abs n) + u) by (now apply grid_log with vs).
    assert (R : round_div (rho (out d)) n (last_bit (out d) n u - u) <> 0).
    { apply orb_prop in G. destruct G as [G|G]; [destruct (rho (out d)); try easy; now apply odd_not_zero|]. apply Z.leb_le in G.
      apply round_log; auto. unfold last_bit. destruct (Z.eqb_spec n 0); [easy|]. lia. }
    assert (Fl : flushes (out d) && ((Z.log2 (Z.abs (round_div (rho (out d)) n (last_bit (out d) n u - u))) + last_bit (out d) n u <? emin (out d)) || tiny (out d) && is_tiny (out d) n u) = false).
    { destruct (flushes (out d)); [|reflexivity]. cbn [negb orb andb] in F |- *. apply Z.leb_le in F. apply normal_sum; auto. lia. }
    rewrite Fl. destruct (Z.eqb_spec (round_div (rho (out d)) n (last_bit (out d) n u - u)) 0); [easy|]. reflexivity.
Qed.

(** ** Tininess after rounding *)

Definition with_tiny (c : conversion) (b : bool) : conversion :=
  {| rho := rho c; p := p c; emin := emin c; emax := emax c; overflow := overflow c; flushes := flushes c; tiny := b; zsign := zsign c |}.

(** What is below the least normal number is exact however it is rounded. *)
Definition idle_tiny (bs : list bounds) (d : sum) : bool :=
  none (carry_bits d) && (0 <=? p (out d)) && (emin (out d) - p (out d) <=? sum_grid bs d).

Lemma exact_log m n k : (2 ^ Z.max 0 k | n) -> n <> 0 -> Z.log2 (Z.abs (round_div m n k)) = Z.log2 (Z.abs n) - k.
Proof.
  intros [q ->] N. rewrite round_div_unfold. destruct (Z.leb_spec k 0) as [H|H].
  - rewrite Z.abs_mul, (Z.abs_eq (2 ^ (- k))) by (apply Z.pow_nonneg; lia). rewrite Z.log2_mul_pow2 by lia. lia.
  - rewrite Z.max_r in * by lia. assert (P : 2 ^ k <> 0) by (apply Z.pow_nonzero; lia). rewrite Z.mod_mul, Z.div_mul by auto. cbn [Z.eqb].
    rewrite Z.abs_mul, (Z.abs_eq (2 ^ k)) by (apply Z.pow_nonneg; lia). rewrite Z.log2_mul_pow2 by (try lia; assert (q <> 0) by (intros ->; lia); lia). lia.
Qed.

Lemma idle_tiny_ok bs d vs : idle_tiny bs d = true -> covered bs vs -> sum_values d vs = sum_values (with_out d (with_tiny (out d) false)) vs.
Proof.
  unfold idle_tiny. intros O Cv. repeat rewrite andb_true_iff in O. destruct O as [[K P] G]. apply Z.leb_le in P, G.
  assert (K' : carry_bits d = None) by now destruct (carry_bits d).
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:En; [|reflexivity]. unfold sum_numbers. set (d' := with_out d _). change (total d' ts) with (total d ts).
  change (counts d' ts) with (counts d ts). change (unit_of d' ts) with (unit_of d ts). cbn [out d' with_out].
  pose proof (total_grid bs d vs ts K' Cv En) as Dv. set (n := total d ts) in *. set (u := unit_of d ts) in *. set (c := out d) in *. set (s := sign_of _ n ts _). clearbody n u s.
  unfold convert. change (last_bit (with_tiny c false) n u) with (last_bit c n u). cbn [rho p emin emax overflow flushes tiny zsign with_tiny].
  change (is_infinite (with_tiny c false) n) with (is_infinite c n). set (ex := last_bit c n u). cbn [andb]. rewrite orb_false_r.
  destruct (Z.eqb_spec (round_div (rho c) n (ex - u)) 0) as [R|R]; [reflexivity|]. cbn [orb].
  assert (N : n <> 0) by (intros N; apply R; rewrite N; apply round_div_0).
  destruct (tiny c); [|cbn [andb]; now rewrite orb_false_r]. cbn [andb].
  assert (T : (Z.log2 (Z.abs (round_div (rho c) n (ex - u))) + ex <? emin c) || is_tiny c n u = (Z.log2 (Z.abs (round_div (rho c) n (ex - u))) + ex <? emin c)); [|now rewrite T].
  unfold ex, last_bit. destruct (Z.eqb_spec n 0); [easy|]. destruct (Z.max_spec (Z.log2 (Z.abs n) + u) (emin c)) as [[L ->]|[L ->]].
  - rewrite exact_log; auto. + destruct (Z.ltb_spec (Z.log2 (Z.abs n) - (emin c - p c - u) + (emin c - p c)) (emin c)); [reflexivity|lia].
    + eapply Z.divide_trans; [|exact Dv]. apply pow_divides. lia.
  - unfold is_tiny. now rewrite orb_diag.
Qed.

(** ** Subnormal results *)

Definition with_flushes (c : conversion) (b : bool) : conversion :=
  {| rho := rho c; p := p c; emin := emin c; emax := emax c; overflow := overflow c; flushes := b; tiny := tiny c; zsign := zsign c |}.

(** No sum but zero is below the least normal number. *)
Definition idle_flush (bs : list bounds) (d : sum) : bool := none (carry_bits d) && (0 <=? p (out d)) && (emin (out d) <=? sum_grid bs d).

Lemma flushed_same c s n u : 0 <= p c -> (n <> 0 -> emin c <= Z.log2 (Z.abs n) + u) -> convert (with_flushes c true) s n u = convert c s n u.
Proof.
  intros P L. unfold convert. change (last_bit (with_flushes c true) n u) with (last_bit c n u). cbn [rho p emin emax overflow flushes tiny zsign with_flushes].
  change (is_infinite (with_flushes c true) n) with (is_infinite c n). change (is_tiny (with_flushes c true) n u) with (is_tiny c n u).
  destruct (Z.eq_dec n 0) as [N|N]; [rewrite N, !round_div_0; reflexivity|]. rewrite normal_sum by auto. now rewrite !andb_false_r.
Qed.

Lemma idle_flush_ok bs d vs : idle_flush bs d = true -> covered bs vs -> sum_values d vs = sum_values (with_out d (with_flushes (out d) true)) vs.
Proof.
  unfold idle_flush. intros O Cv. repeat rewrite andb_true_iff in O. destruct O as [[K P] G]. apply Z.leb_le in P, G.
  assert (K' : carry_bits d = None) by now destruct (carry_bits d).
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:En; [|reflexivity]. unfold sum_numbers. set (d' := with_out d _). change (total d' ts) with (total d ts).
  change (counts d' ts) with (counts d ts). change (unit_of d' ts) with (unit_of d ts). cbn [out d' with_out]. symmetry. apply flushed_same; auto.
  intros N. pose proof (grid_log bs d vs ts K' Cv En N). lia.
Qed.

(** ** Overflow *)

(** A rounding to nearest has an Inf where IEEE 754 has one, too, and a stochastic one. *)
Definition always_inf (c : conversion) : bool := match overflow c, rho c with Directed, (RNE | RNA | SR _ _) => true | _, _ => false end.

Lemma always_inf_ok c s n u : always_inf c = true -> convert (with_overflow c Infinite) s n u = convert c s n u.
Proof.
  intros O. unfold convert. assert (I : is_infinite (with_overflow c Infinite) n = is_infinite c n) by (unfold always_inf in O; unfold is_infinite; cbn; destruct (overflow c), (rho c); easy).
  change (last_bit (with_overflow c Infinite)) with (last_bit c). change (is_tiny (with_overflow c Infinite)) with (is_tiny c). now rewrite I.
Qed.

(** Magnitudes of operands in units of [2^g], and of what alignment adds where it does not cut toward zero. *)
Definition magnitude (g : Z) (b : bounds) : Z := fst (shape_of b) * 2 ^ (Z.max (upto b) (low_upto b) - snd (shape_of b) - g).
Definition added (bs : list bounds) (d : sum) : option Z :=
  match fraction_bits d, alignment d with None, _ | _, RZ => None | Some f, _ => Some (Z.max (most_of upto bs) (most_of low_upto bs) - f) end.
Definition least_magnitude (bs : list bounds) (d : sum) : Z :=
  let g := least_of (fun b => Z.max (upto b) (low_upto b) - snd (shape_of b)) bs in match added bs d with None => g | Some u => Z.min g u end.
Definition all_magnitudes (bs : list bounds) (d : sum) : Z :=
  let g := least_magnitude bs d in
  zsum (map (fun b => magnitude g b + match added bs d with None => 0 | Some u => 2 ^ (u - g) end) bs).

(** Rounded down, what is below the least power of two that is too large stays below it; rounded to nearest, what is less than
    half a last place above the largest number. *)
Definition never_over (bs : list bounds) (d : sum) : bool :=
  let c := out d in let g := least_magnitude bs d in
  match carry_bits d, fraction_bits d, zero_exponent d with None, None, _ | None, Some _, ZeroNone => true | _, _, _ => false end &&
  negb (normalise d) && shapes_ok bs && range_ok c && (g <=? emax c - p c) &&
  match rho c with
  | RZ | RO => all_magnitudes bs d <? 2 ^ (emax c + 1 - g)
  | RNE | RNA =>
      (all_magnitudes bs d <=? (2 ^ (p c + 1) - 1) * 2 ^ (emax c - p c - g)) ||
      (g <? emax c - p c) && (all_magnitudes bs d <? (2 ^ (p c + 2) - 1) * 2 ^ (emax c - p c - 1 - g))
  | _ => all_magnitudes bs d <=? (2 ^ (p c + 1) - 1) * 2 ^ (emax c - p c - g)
  end.

Lemma magnitude_of b g x : fits' (shape_of b) x -> under b x -> 0 <= fst (shape_of b) -> g <= Z.max (upto b) (low_upto b) - snd (shape_of b) ->
  (Rabs (V x) <= IZR (magnitude g b) * bp g)%R.
Proof.
  intros [S F] U P G. unfold under in U. unfold magnitude, V, lsb. set (t := Z.max (upto b) (low_upto b)) in *.
  assert (E : exp x <= t) by (destruct (low_sig x); lia).
  assert (A : Rabs (IZR (signed x)) = IZR (sig x)) by (rewrite <- abs_IZR; f_equal; unfold signed; destruct (neg x); lia).
  rewrite Rabs_mult, A, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia.
  replace (exp x - frac x) with (- frac x + exp x) by lia. replace (t - snd (shape_of b) - g + g) with (- snd (shape_of b) + t) by lia.
  rewrite !bpow_plus, <- !Rmult_assoc. apply Rmult_le_compat; try apply bpow_ge_0; auto; [|apply bpow_le; lia].
  apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0].
Qed.

Lemma sum_magnitude bs d vs ts : carry_bits d = None -> normalise d = false -> shapes_ok bs = true ->
  (fraction_bits d <> None -> zero_exponent d = ZeroNone) -> covered bs vs -> numbers vs = Some ts ->
  (Rabs (IZR (total d ts) * bp (unit_of d ts)) <= IZR (all_magnitudes bs d) * bp (least_magnitude bs d))%R.
Proof.
  intros K N Sh Z Cv E. pose proof (covered_numbers _ _ _ Cv E) as F0. destruct Cv as [cs [I [[L _] T]]]. pose proof (inside_numbers _ _ _ I E) as F.
  set (g := least_magnitude bs d). set (extra := match added bs d with None => 0 | Some u => 2 ^ (u - g) end).
  set (h := fun b => magnitude g b + extra).
  assert (Ge : 0 <= extra) by (unfold extra; destruct (added bs d); [apply Z.pow_nonneg; lia|lia]).
  assert (Hn : forall b, 0 <= fst (shape_of b) -> 0 <= h b).
  { intros b Pb. unfold h, magnitude. pose proof (Z.pow_nonneg 2 (Z.max (upto b) (low_upto b) - snd (shape_of b) - g) ltac:(lia)). nia. }
  assert (All : all_magnitudes bs d = zsum (map h bs)) by reflexivity. rewrite All.
  assert (Q : (Rabs (IZR (total d ts) * bp (unit_of d ts)) <= IZR (zsum (map h cs)) * bp g)%R).
  2: { eapply Rle_trans; [exact Q|]. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. now apply T. }
  unfold total. rewrite K. unfold counts. set (u := unit_of d ts).
  assert (One : forall b x, In b bs -> In x ts -> fits' (shape_of b) x -> under b x -> (Rabs (IZR (cut (alignment d) u x) * bp u) <= IZR (h b) * bp g)%R).
  { intros b x Hb Hx Fx Ux. unfold h.
    assert (Pb : 0 <= fst (shape_of b)) by (unfold shapes_ok in Sh; rewrite forallb_forall in Sh; specialize (Sh b Hb); lia).
    pose proof (least_of_le (fun b => Z.max (upto b) (low_upto b) - snd (shape_of b)) bs b Hb) as Lg. cbn beta in Lg.
    assert (Gb : g <= Z.max (upto b) (low_upto b) - snd (shape_of b)) by (unfold g, least_magnitude; destruct (added bs d); lia).
    pose proof (magnitude_of b g x Fx Ux Pb Gb) as M. rewrite plus_IZR, Rmult_plus_distr_r.
    assert (Ex : (0 <= IZR extra * bp g)%R) by (apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]).
    unfold added in *. destruct (fraction_bits d) as [f|] eqn:Fb.
    2: { assert (W : (IZR (cut (alignment d) u x) * bp u = V x)%R).
         { rewrite cut_ok. apply fix_rnd_multiple, multiple_lsb. unfold u, unit_of. rewrite Fb. now apply least_below. }
         rewrite W. lra. }
    assert (Near : (Rabs (IZR (cut RZ u x) * bp u) <= Rabs (V x))%R) by apply cut_less.
    destruct (alignment d) eqn:Al; try (eapply Rle_trans; [exact Near|]; lra).
    all: destruct (is_zero x) eqn:Zx; [rewrite cut_zero by auto; rewrite Rmult_0_l, Rabs_R0; pose proof (Rabs_pos (V x)); lra|].
    all: assert (Uu : u <= Z.max (most_of upto bs) (most_of low_upto bs) - f).
    all: try (unfold u, unit_of; rewrite Fb; destruct (largest d ts) as [e|] eqn:Lar; [|now rewrite (largest_none d ts x Lar Hx) in Zx];
      destruct (largest_attained d ts e Lar) as [y [Hy Te]]; unfold term_exponent in Te; rewrite (Z ltac:(easy)), N in Te;
      destruct (is_zero y); [easy|]; injection Te as <-; destruct (F0 y Hy) as [_ [_ [Uy _]]]; destruct (low_sig y); lia).
    all: pose proof (cut_away (alignment d) u x) as Aw; rewrite Al in Aw; apply IZR_le in Aw; rewrite plus_IZR, !abs_IZR in Aw;
      rewrite Rabs_mult, (Rabs_pos_eq (bp u)) in Near |- * by apply bpow_ge_0; pose proof (bpow_ge_0 radix2 u) as Bu;
      (apply Rle_trans with (Rabs (IZR (cut RZ u x)) * bp u + bp u)%R; [nra|]); apply Rplus_le_compat; [lra|];
      unfold extra; rewrite <- bp_Z, <- bpow_plus by (unfold g, least_magnitude, added; rewrite Fb, Al; lia); apply bpow_le; lia. }
  clear -F L One Hn. clearbody u h. induction F as [|b x cs ts [Fx [_ [_ [Ux _]]]] F IH]; [cbn; rewrite !Rmult_0_l, Rabs_R0; lra|].
  inversion L; subst. unfold zsum in *. cbn [map fold_right]. rewrite !plus_IZR, !Rmult_plus_distr_r. eapply Rle_trans; [apply Rabs_triang|].
  apply Rplus_le_compat; [apply One; auto; now left|]. apply IH; auto. intros c y Hc Hy. apply One; auto. now right.
Qed.

Lemma not_large_near c n u : rho c = RNE \/ rho c = RNA -> 0 <= p c -> emin c <= emax c ->
  (Rabs (IZR n * bp u) < IZR (2 ^ (p c + 2) - 1) * bp (emax c - p c - 1))%R ->
  let r := round_div (rho c) n (last_bit c n u - u) in r <> 0 -> Z.log2 (Z.abs r) + last_bit c n u <= emax c.
Proof.
  intros Rm P M A r R. destruct (round_div_log2 c n u R) as [B1 _]. fold r in B1. set (x := (IZR n * bp u)%R) in *.
  set (h := bp (emax c - p c - 1)) in *. assert (H0 : (0 < h)%R) by apply bpow_gt_0.
  assert (Mx : (max_of c + 2 * h = bp (emax c + 1))%R).
  { unfold max_of, h. replace (emax c - p c) with ((emax c - p c - 1) + 1) by lia. replace (emax c + 1) with ((p c + 2) + (emax c - p c - 1)) by lia.
    replace (emax c - p c - 1 + 1 - 1) with (emax c - p c - 1) by lia. rewrite !bpow_plus, (bp_Z (p c)), minus_IZR, Z.pow_add_r, mult_IZR by lia. cbn. lra. }
  assert (Up : (IZR (2 ^ (p c + 2) - 1) * h = max_of c + h)%R).
  { replace (max_of c + h)%R with (bp (emax c + 1) - h)%R by lra. unfold h. replace (emax c + 1) with ((p c + 2) + (emax c - p c - 1)) by lia.
    rewrite bpow_plus, minus_IZR, <- bp_Z by lia. lra. }
  rewrite Up in A.
  assert (Fm : generic_format radix2 (flt c) (max_of c)).
  { apply generic_format_FLT. exists (Float radix2 (2 ^ (p c + 1) - 1) (emax c - p c)); [reflexivity| |cbn; lia].
    cbn [Fnum]. pose proof (pow2_pos (p c + 1) ltac:(lia)). rewrite Z.abs_eq by lia. change (Zpower radix2 (p c + 1)) with (2 ^ (p c + 1)). lia. }
  assert (V : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
  assert (N : forall g, generic_format radix2 (flt c) g -> (Rabs (flt_rnd c x - x) <= Rabs (g - x))%R).
  { intros g G. unfold flt_rnd. destruct Rm as [->| ->]; cbn [rnd]; apply round_N_pt; auto with typeclass_instances. }
  assert (F : (Rabs (flt_rnd c x) < bp (emax c + 1))%R).
  { apply Rabs_def2 in A. pose proof (N (max_of c) Fm) as N1. pose proof (N (- max_of c)%R (generic_format_opp _ _ _ Fm)) as N2.
    apply Rabs_lt. rewrite <- Mx. unfold Rabs in N1, N2. repeat destruct (Rcase_abs _) in N1; repeat destruct (Rcase_abs _) in N2; lra. }
  assert (Q : (bp (Z.log2 (Z.abs r) + last_bit c n u) < bp (emax c + 1))%R) by (eapply Rle_lt_trans; [exact B1|exact F]).
  apply lt_bpow in Q. lia.
Qed.

Lemma never_over_ok bs d vs : never_over bs d = true -> covered bs vs ->
  sum_values d vs = sum_values (with_out d (with_overflow (out d) Infinite)) vs.
Proof.
  intros O Cv. unfold never_over in O. cbv zeta in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[O N] Sh] R] G] M].
  apply negb_true_iff in N. apply Z.leb_le in G. unfold range_ok in R. apply andb_prop in R. destruct R as [P E]. apply Z.leb_le in P, E.
  assert (K : carry_bits d = None) by (destruct (carry_bits d); easy). rewrite K in O.
  assert (Z : fraction_bits d <> None -> zero_exponent d = ZeroNone) by (destruct (fraction_bits d); [|easy]; now destruct (zero_exponent d)).
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:En; [|reflexivity]. unfold sum_numbers.
  pose proof (sum_magnitude bs d vs ts K N Sh Z Cv En) as B. set (g := least_magnitude bs d) in *. set (m := all_magnitudes bs d) in *.
  change (unit_of (with_out d _) ts) with (unit_of d ts). change (total (with_out d _) ts) with (total d ts). change (counts (with_out d _) ts) with (counts d ts).
  cbn [out with_out]. change (rho (with_overflow (out d) Infinite)) with (rho (out d)). symmetry.
  assert (Down : rho (out d) = RZ \/ rho (out d) = RO -> convert (with_overflow (out d) Infinite) (sign_of (rho (out d)) (total d ts) ts (counts d ts)) (total d ts) (unit_of d ts) =
    convert (out d) (sign_of (rho (out d)) (total d ts) ts (counts d ts)) (total d ts) (unit_of d ts)).
  { intros Rm. apply overflow_unseen. apply not_large_down; auto. eapply Rle_lt_trans; [exact B|].
    assert (Q : m < 2 ^ (emax (out d) + 1 - g)) by (destruct Rm as [Rm|Rm]; rewrite Rm in M; now apply Z.ltb_lt).
    apply IZR_lt in Q. rewrite <- bp_Z in Q by lia. apply Rlt_le_trans with (bp (emax (out d) + 1 - g) * bp g)%R; [|rewrite <- bpow_plus; apply bpow_le; lia].
    apply Rmult_lt_compat_r; [apply bpow_gt_0|exact Q]. }
  assert (Near : m <= (2 ^ (p (out d) + 1) - 1) * 2 ^ (emax (out d) - p (out d) - g) -> convert (with_overflow (out d) Infinite) (sign_of (rho (out d)) (total d ts) ts (counts d ts)) (total d ts) (unit_of d ts) =
    convert (out d) (sign_of (rho (out d)) (total d ts) ts (counts d ts)) (total d ts) (unit_of d ts)).
  { intros Q. apply any_overflow; auto. eapply Rle_trans; [exact B|]. apply IZR_le in Q. rewrite mult_IZR, <- (bp_Z (emax (out d) - p (out d) - g)) in Q by lia.
    unfold max_of. replace (bp (emax (out d) - p (out d))) with (bp (emax (out d) - p (out d) - g) * bp g)%R by (rewrite <- bpow_plus; f_equal; lia).
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply bpow_ge_0|exact Q]. }
  assert (Half : rho (out d) = RNE \/ rho (out d) = RNA -> g < emax (out d) - p (out d) -> m < (2 ^ (p (out d) + 2) - 1) * 2 ^ (emax (out d) - p (out d) - 1 - g) ->
    convert (with_overflow (out d) Infinite) (sign_of (rho (out d)) (total d ts) ts (counts d ts)) (total d ts) (unit_of d ts) =
    convert (out d) (sign_of (rho (out d)) (total d ts) ts (counts d ts)) (total d ts) (unit_of d ts)).
  { intros Rm L Q. apply overflow_unseen. apply not_large_near; auto. eapply Rle_lt_trans; [exact B|]. apply IZR_lt in Q.
    rewrite mult_IZR, <- (bp_Z (emax (out d) - p (out d) - 1 - g)) in Q by lia.
    replace (bp (emax (out d) - p (out d) - 1)) with (bp (emax (out d) - p (out d) - 1 - g) * bp g)%R by (rewrite <- bpow_plus; f_equal; lia).
    rewrite <- Rmult_assoc. apply Rmult_lt_compat_r; [apply bpow_gt_0|exact Q]. }
  destruct (rho (out d)) eqn:Rm; try (apply Down; auto; fail); try (apply Near; now apply Z.leb_le).
  all: apply orb_prop in M; destruct M as [M|M]; [apply Near; now apply Z.leb_le|apply andb_prop in M; destruct M as [M1 M2]; apply Half; auto; now apply Z.ltb_lt].
Qed.

(** * Operands with the exponents of their leading bits *)

Definition with_normalise (d : sum) (b : bool) : sum :=
  {| fraction_bits := fraction_bits d; alignment := alignment d; zero_exponent := zero_exponent d; carry_bits := carry_bits d; normalise := b; out := out d |}.

Definition lead (x : num) : num := if is_zero x then x else at_exponent (own_exponent x) x.
Definition lead_bits (b : bounds) : Z := Z.max 0 (Z.log2 (fst (shape_of b)) + width b - snd (shape_of b)).
Definition lead_bounds (b : bounds) : bounds :=
  {| shape_of := number_shape (lead_bits b); lowest := Z.min (lowest b) (grid b); grid := grid b;
     upto := Z.max (upto b) (low_upto b) + Z.log2 (fst (shape_of b)) - snd (shape_of b); low_upto := low_upto b; width := Z.max (width b) (lead_bits b) |}.

Lemma shorter_shape n m : 0 <= m <= n -> (IZR (2 ^ (m + 1) - 1) * bp (- m) <= IZR (2 ^ (n + 1) - 1) * bp (- n))%R.
Proof.
  intros H. rewrite !minus_IZR, <- !bp_Z, !Rmult_minus_distr_r, <- !bpow_plus, !Rmult_1_l by lia.
  replace (m + 1 + - m) with 1 by lia. replace (n + 1 + - n) with 1 by lia. assert (bp (- n) <= bp (- m))%R by (apply bpow_le; lia). lra.
Qed.

Lemma leading_fits n x : 0 < sig x <= 2 ^ (n + 1) - 1 -> 0 <= n -> Z.log2 (sig x) <= frac x -> fits' (number_shape n) x.
Proof.
  intros S N L. destruct (Z.log2_spec (sig x)) as [L1 L2]; [lia|]. pose proof (Z.log2_nonneg (sig x)) as L0. set (l := Z.log2 (sig x)) in *.
  assert (Lf : l <= n) by (assert (l < n + 1); [apply Z.log2_lt_pow2; lia|lia]).
  split; [lia|]. unfold number_shape. cbn [fst snd]. apply Rle_trans with (IZR (2 ^ (l + 1) - 1) * bp (- l))%R; [|apply shorter_shape; lia].
  apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; replace (Z.succ l) with (l + 1) in L2 by lia; lia|apply bpow_le; lia].
Qed.

Lemma lead_lsb x : lsb (lead x) = lsb x /\ signed (lead x) = signed x /\ neg (lead x) = neg x /\ is_zero (lead x) = is_zero x.
Proof. unfold lead. destruct (is_zero x) eqn:Z; auto. unfold at_exponent, lsb, signed, is_zero in *. cbn. repeat split; auto. lia. Qed.

Lemma lead_inside b v : inside b v -> inside (lead_bounds b) (on_num lead v).
Proof.
  intros H y E. destruct v as [x| |]; try easy. injection E as <-. destruct (H x eq_refl) as [[S F] [L [M [U W]]]].
  destruct (lead_lsb x) as [Ls [Sg [_ Zx]]].
  assert (Ml : multiple (grid b) (lead x)) by (unfold multiple in *; now rewrite Ls, Sg).
  assert (N0 : 0 <= lead_bits b) by (unfold lead_bits; lia).
  unfold lead in *. destruct (is_zero x) eqn:Z.
  - split; [|split; [cbn; lia|split; [exact Ml|split; [|cbn; lia]]]].
    + unfold is_zero in Z. apply Z.eqb_eq in Z. split; [lia|]. rewrite Z, Rmult_0_l. apply Rmult_le_pos; [|apply bpow_ge_0]. apply IZR_le. cbn. assert (0 < 2 ^ (lead_bits b + 1)) by (apply Z.pow_pos_nonneg; lia). lia.
    + unfold under in *. now rewrite (zero_low x Z) in *.
  - unfold is_zero in Z. apply Z.eqb_neq in Z. destruct (Z.log2_spec (sig x)) as [L1 L2]; [lia|]. pose proof (Z.log2_nonneg (sig x)) as L0. set (l := Z.log2 (sig x)) in *.
    assert (Own : own_exponent x = l + lsb x) by (unfold own_exponent; rewrite Z.abs_eq by lia; reflexivity).
    assert (Fr : frac (at_exponent (own_exponent x) x) = l) by (cbn; rewrite Own; unfold lsb; lia).
    assert (Pf : 0 < fst (shape_of b)).
    { apply Z.nle_gt. intros C. assert (Q : (IZR (fst (shape_of b)) * bp (- snd (shape_of b)) <= 0)%R) by (apply IZR_le in C; pose proof (bpow_gt_0 radix2 (- snd (shape_of b))); nra).
      assert (0 < IZR (sig x) * bp (- frac x))%R by (apply Rmult_lt_0_compat; [apply IZR_lt; lia|apply bpow_gt_0]). lra. }
    assert (Lf : l - frac x <= Z.log2 (fst (shape_of b)) - snd (shape_of b)).
    { destruct (Z.log2_spec (fst (shape_of b)) Pf) as [_ G]. assert (B : (bp (l - frac x) < bp (Z.log2 (fst (shape_of b)) + 1 - snd (shape_of b)))%R).
      - apply Rle_lt_trans with (IZR (sig x) * bp (- frac x))%R; [|eapply Rle_lt_trans; [exact F|]].
        + replace (l - frac x) with (l + - frac x) by lia. rewrite bpow_plus. apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. now apply IZR_le.
        + replace (Z.log2 (fst (shape_of b)) + 1 - snd (shape_of b)) with (Z.log2 (fst (shape_of b)) + 1 + - snd (shape_of b)) by lia. rewrite bpow_plus.
          apply Rmult_lt_compat_r; [apply bpow_gt_0|]. pose proof (Z.log2_nonneg (fst (shape_of b))). rewrite bp_Z by lia. apply IZR_lt. lia.
      - apply lt_bpow in B. lia. }
    assert (Ln : l <= lead_bits b) by (unfold lead_bits; lia).
    assert (Gl : grid b <= l + lsb x).
    { destruct M as [m M]. assert (m <> 0) by (intros ->; unfold signed in M; destruct (neg x); lia).
      assert (Z.max 0 (grid b - lsb x) <= l); [|lia]. rewrite <- (Z.log2_pow2 (Z.max 0 (grid b - lsb x))) by lia. apply Z.log2_le_mono.
      assert (Ab : sig x = Z.abs m * 2 ^ Z.max 0 (grid b - lsb x)) by (rewrite <- (Z.abs_eq (2 ^ _)) by (apply Z.pow_nonneg; lia); rewrite <- Z.abs_mul, <- M; unfold signed; destruct (neg x); lia).
      pose proof (Z.pow_nonneg 2 (Z.max 0 (grid b - lsb x)) ltac:(lia)). nia. }
    split; [|split; [|split; [exact Ml|split]]].
    + apply leading_fits; auto; [|rewrite Fr; cbn; fold l; lia]. cbn [sig at_exponent]. assert (2 ^ (l + 1) <= 2 ^ (lead_bits b + 1)) by (apply Z.pow_le_mono_r; lia). replace (Z.succ l) with (l + 1) in L2 by lia. lia.
    + cbn [exp at_exponent lowest lead_bounds]. rewrite Own. lia.
    + unfold under, low_sig, is_zero. rewrite Fr. cbn [sig exp at_exponent upto lead_bounds]. destruct (Z.eqb_spec (sig x) 0); [lia|]. destruct (Z.ltb_spec (sig x) (2 ^ l)); [lia|]. cbn [orb].
      rewrite Own. unfold lsb. assert (exp x <= Z.max (upto b) (low_upto b)) by (unfold under in U; destruct (low_sig x); lia). lia.
    + rewrite Fr. cbn [width lead_bounds]. lia.
Qed.

Lemma lead_sum d ts : normalise d = true -> sum_numbers (with_normalise d false) (map lead ts) = sum_numbers d ts.
Proof.
  intros N. set (e := with_normalise d false).
  assert (U : unit_of e (map lead ts) = unit_of d ts).
  { unfold unit_of. change (fraction_bits e) with (fraction_bits d). assert (L : largest e (map lead ts) = largest d ts).
    { unfold largest. rewrite map_map. f_equal. apply map_ext. intros x. unfold term_exponent. destruct (lead_lsb x) as [_ [_ [_ Z]]]. rewrite Z, N. cbn [normalise zero_exponent e with_normalise]. unfold lead. now destruct (is_zero x). }
    rewrite L. destruct (fraction_bits d); [reflexivity|]. unfold least_lsb. destruct ts as [|x r]; [reflexivity|]. cbn [map]. rewrite (proj1 (lead_lsb x)), map_map. f_equal. apply map_ext. intros y. apply lead_lsb. }
  assert (K : counts e (map lead ts) = counts d ts).
  { unfold counts. rewrite U, map_map. apply map_ext. intros x. unfold cut. destruct (lead_lsb x) as [-> [-> _]]. reflexivity. }
  assert (T : total e (map lead ts) = total d ts) by (unfold total; now rewrite K).
  unfold sum_numbers. rewrite U, K, T. change (out e) with (out d). f_equal. unfold sign_of. destruct (negb _); [reflexivity|].
  assert (A : forallb neg (map lead ts) = forallb neg ts /\ forallb (fun x => negb (neg x)) (map lead ts) = forallb (fun x => negb (neg x)) ts /\ existsb neg (map lead ts) = existsb neg ts).
  { clear. induction ts as [|x ts [I1 [I2 I3]]]; [auto|]. cbn [map forallb existsb]. destruct (lead_lsb x) as [_ [_ [-> _]]]. now rewrite I1, I2, I3. }
  destruct A as [-> [-> ->]]. reflexivity.
Qed.

Lemma lead_values d vs : normalise d = true -> sum_values (with_normalise d false) (map (on_num lead) vs) = sum_values d vs.
Proof.
  intros N. unfold sum_values. assert (M : numbers (map (on_num lead) vs) = match numbers vs with Some ts => Some (map lead ts) | None => None end).
  { unfold numbers. assert (A : forallb is_num (map (on_num lead) vs) = forallb is_num vs) by (induction vs as [|[x| |] vs IH]; cbn; auto). rewrite A.
    destruct (forallb is_num vs) eqn:B; [|reflexivity]. f_equal. rewrite !map_map. apply map_ext_in. intros v Hv. rewrite forallb_forall in B. specialize (B v Hv). now destruct v. }
  rewrite M. destruct (numbers vs) as [ts|]; [now apply lead_sum|].
  unfold special_sum. assert (E : forall q : val -> bool, (forall x, q (Num x) = false) -> existsb q (map (on_num lead) vs) = existsb q vs).
  { intros q Hq. clear -Hq. induction vs as [|[x| |] vs IH]; cbn; auto; rewrite IH; auto. now rewrite !Hq. }
  now rewrite !E.
Qed.

Lemma lead_covered bs vs : shapes_ok bs = true -> covered bs vs -> covered (map lead_bounds bs) (map (on_num lead) vs).
Proof.
  intros Sh [cs [I [[L N] T]]]. exists (map lead_bounds cs). split; [|split; [split|]].
  - clear -I. induction I; cbn; constructor; auto using lead_inside.
  - apply Forall_forall. intros c Hc. apply in_map_iff in Hc. destruct Hc as [y [<- Hy]]. apply in_map. rewrite Forall_forall in L. now apply L.
  - now rewrite !map_length.
  - intros g G _. rewrite !map_map. apply (T (fun b => g (lead_bounds b))); [|exact Sh]. intros b _. apply G. cbn. assert (0 < 2 ^ (lead_bits b + 1)) by (apply Z.pow_pos_nonneg; unfold lead_bits; lia). lia.
Qed.

Lemma lead_zeros z vs : has_plus_zero z vs -> has_plus_zero z (map (on_num lead) vs).
Proof.
  intros [A B]. split.
  - intros F. destruct (A F) as [x [Hx [Zx Nx]]]. exists (lead x). destruct (lead_lsb x) as [_ [_ [-> ->]]]. split; [|split; assumption]. exact (in_map (on_num lead) vs (Num x) Hx).
  - intros F. destruct (B F) as [v [Hv Q]]. exists (on_num lead v). split; [now apply in_map|]. intros x E. destruct v as [y| |]; try easy. injection E as <-. destruct (lead_lsb y) as [_ [_ [-> ->]]]. now apply Q.
Qed.

(** * Parameters of one sum *)

Definition sum_eq (a b : sum) : {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.

(** The sum on its way to another one: each parameter that is plain there, and does not matter here, at its plain value. *)
Definition plainer (z : bool * bool) (bs : list bounds) (d d' : sum) : sum :=
  let d1 := if none (carry_bits d') && idle_carry bs d then with_carry d None else d in
  let d2 := if zero_none d' && idle_zero bs d1 then with_zero d1 ZeroNone else d1 in
  let d3 := if none (fraction_bits d') && (idle_cut bs d2 || idle_two bs d2) then exact_of d2 else d2 in
  let d4 := if match zsign (out d') with Positive => true | _ => false end && idle_sign z bs d3
            then with_out d3 (with_zero_sign (out d3) Positive) else d3 in
  let d5 := if negb (tiny (out d')) && idle_tiny bs d4 then with_out d4 (with_tiny (out d4) false) else d4 in
  let d6 := if flushes (out d') && idle_flush bs d5 then with_out d5 (with_flushes (out d5) true) else d5 in
  if match overflow (out d') with Infinite => true | _ => false end && (always_inf (out d6) || never_over bs d6)
  then with_out d6 (with_overflow (out d6) Infinite) else d6.

Lemma plainer_ok z bs d d' vs : covered bs vs -> has_plus_zero z vs -> sum_values (plainer z bs d d') vs = sum_values d vs.
Proof.
  intros C Z. unfold plainer. cbv zeta.
  set (d1 := if none (carry_bits d') && _ then _ else _). assert (E1 : sum_values d1 vs = sum_values d vs).
  { unfold d1. destruct (none _ && _) eqn:G; [|reflexivity]. apply andb_prop in G. symmetry. now apply idle_carry_ok with bs. }
  clearbody d1.
  set (d2 := if zero_none d' && _ then _ else _). assert (E2 : sum_values d2 vs = sum_values d1 vs).
  { unfold d2. destruct (zero_none _ && _) eqn:G; [|reflexivity]. apply andb_prop in G. symmetry. now apply idle_zero_ok with bs. }
  clearbody d2.
  set (d3 := if none (fraction_bits d') && _ then _ else _). assert (E3 : sum_values d3 vs = sum_values d2 vs).
  { unfold d3. destruct (none _ && _) eqn:G; [|reflexivity]. apply andb_prop in G. destruct G as [_ G]. symmetry. apply orb_prop in G. destruct G; [now apply idle_cut_ok with bs|now apply idle_two_ok with bs]. }
  clearbody d3.
  set (d4 := if _ && idle_sign z bs d3 then _ else d3). assert (E4 : sum_values d4 vs = sum_values d3 vs).
  { unfold d4. destruct (_ && idle_sign _ _ _) eqn:G; [|reflexivity]. apply andb_prop in G. symmetry. now apply idle_sign_ok with z bs. }
  clearbody d4. set (d5 := if _ && idle_tiny bs d4 then _ else d4). assert (E5 : sum_values d5 vs = sum_values d4 vs).
  { unfold d5. destruct (_ && idle_tiny _ _) eqn:G; [|reflexivity]. apply andb_prop in G. symmetry. now apply idle_tiny_ok with bs. }
  clearbody d5. set (d6 := if _ && idle_flush bs d5 then _ else d5). assert (E6 : sum_values d6 vs = sum_values d5 vs).
  { unfold d6. destruct (_ && idle_flush _ _) eqn:G; [|reflexivity]. apply andb_prop in G. symmetry. now apply idle_flush_ok with bs. }
  rewrite <- E1, <- E2, <- E3, <- E4, <- E5, <- E6. destruct (_ && (_ || _)) eqn:G; [|reflexivity]. apply andb_prop in G. destruct G as [_ G]. apply orb_prop in G.
  destruct G as [G|G]; [|symmetry; now apply never_over_ok with bs].
  unfold sum_values. destruct (numbers vs); [|reflexivity]. unfold sum_numbers. cbn [out with_out].
  change (unit_of (with_out d6 _)) with (unit_of d6). change (total (with_out d6 _)) with (total d6). change (counts (with_out d6 _)) with (counts d6).
  now rewrite always_inf_ok.
Qed.

Lemma plainer_out z bs d d' : emin (out (plainer z bs d d')) = emin (out d) /\ p (out (plainer z bs d d')) = p (out d).
Proof.
  unfold plainer. cbv zeta. set (d1 := if none (carry_bits d') && _ then _ else _). assert (E1 : out d1 = out d) by (unfold d1; now destruct (none _ && _)). clearbody d1.
  set (d2 := if zero_none d' && _ then _ else _). assert (E2 : out d2 = out d1) by (unfold d2; now destruct (zero_none _ && _)). clearbody d2.
  set (d3 := if none (fraction_bits d') && _ then _ else _). assert (E3 : out d3 = out d2) by (unfold d3; now destruct (none _ && _)).
  rewrite <- E1, <- E2, <- E3. clearbody d3. destruct (_ && idle_sign _ _ _), (_ && idle_tiny _ _), (_ && idle_flush _ _), (_ && (_ || _)); auto.
Qed.

Lemma plainer_normal z bs d d' : normalise d = false -> normalise (plainer z bs d d') = false.
Proof.
  intros N. unfold plainer. cbv zeta. set (d1 := if none (carry_bits d') && _ then _ else _). assert (E1 : normalise d1 = false) by (unfold d1; now destruct (none _ && _)). clearbody d1.
  set (d2 := if zero_none d' && _ then _ else _). assert (E2 : normalise d2 = false) by (unfold d2; now destruct (zero_none _ && _)). clearbody d2.
  set (d3 := if none (fraction_bits d') && _ then _ else _). assert (E3 : normalise d3 = false) by (unfold d3; now destruct (none _ && _)). clearbody d3.
  destruct (_ && idle_sign _ _ _), (_ && idle_tiny _ _), (_ && idle_flush _ _), (_ && (_ || _)); auto.
Qed.

(** Two sums with the same results on operands of these bounds, with a +0 among them, or not; of normalised operands the bounds are tighter. *)
Definition idle_sum (z : bool * bool) (bs : list bounds) (d d' : sum) : bool :=
  range_ok (out d) &&
  ((if sum_eq d' (plainer z bs d d') then true else false) ||
   normalise d && normalise d' && shapes_ok bs &&
   if sum_eq d' (with_normalise (plainer z (map lead_bounds bs) (with_normalise d false) (with_normalise d' false)) true) then true else false).

Lemma idle_sum_ok z bs d d' vs : idle_sum z bs d d' = true -> covered bs vs -> has_plus_zero z vs -> sum_values d' vs = sum_values d vs.
Proof.
  unfold idle_sum. intros O C Z. apply andb_prop in O. destruct O as [_ O]. apply orb_prop in O. destruct O as [O|O].
  - destruct (sum_eq _ _) as [E|]; [|easy]. rewrite E. now apply plainer_ok.
  - repeat rewrite andb_true_iff in O. destruct O as [[[N N'] Sh] O]. destruct (sum_eq _ _) as [E|]; [|easy]. set (q := plainer _ _ _ _) in E.
    assert (Q : with_normalise (with_normalise q true) false = q) by (assert (Nq : normalise q = false) by (now apply plainer_normal); destruct q; cbn in *; now subst).
    rewrite E, <- (lead_values (with_normalise q true)), Q, <- (lead_values d) by auto. apply plainer_ok; [now apply lead_covered|now apply lead_zeros].
Qed.

Lemma idle_range z bs d d' : idle_sum z bs d d' = true -> range_ok (out d) = true.
Proof. unfold idle_sum. intros O. now apply andb_prop in O. Qed.

(** ** A +0 among operands *)

(** Whether the sum does not tell zeros among its operands. *)
Definition zero_free (d : sum) : bool :=
  unseen_sign (out d) && match fraction_bits d, zero_exponent d with None, _ | Some _, ZeroNone => true | _, _ => false end.

Lemma zeros_dropped d us vs : zero_free d = true -> forallb is_zero us = true -> sum_values d (map Num us ++ vs) = sum_values d vs.
Proof.
  unfold zero_free. intros O Uz. apply andb_prop in O. destruct O as [S O]. destruct (fraction_bits d) as [f|] eqn:F.
  - apply (from_zeros None d us vs Uz S); [congruence|]. intros ts _. rewrite zeros_none; auto; [easy|]. now destruct (zero_exponent d).
  - unfold sum_values. rewrite numbers_zeros. destruct (numbers vs) as [ts|]; [|apply special_zeros]. unfold sum_numbers.
    assert (E : (IZR (total d (us ++ ts)) * bp (unit_of d (us ++ ts)) = IZR (total d ts) * bp (unit_of d ts))%R).
    { assert (T : forall l, total d l = zsum (counts d l)) by (intros l; unfold total; rewrite F; now destruct (carry_bits d)).
      rewrite !T, !multiples_total by now apply exact_multiples. unfold exact_sum. rewrite map_app, Rsum_app.
      assert (Q : Rsum (map V us) = 0%R); [|lra]. clear -Uz. induction us as [|x us IH]; [reflexivity|]. cbn [forallb] in Uz. apply andb_prop in Uz.
      destruct Uz as [Zx Uz]. cbn [map]. unfold Rsum in *. cbn [fold_right]. rewrite V_zero, IH by auto. lra. }
    transitivity (convert (out d) (sign_of (rho (out d)) (total d ts) ts (counts d ts)) (total d (us ++ ts)) (unit_of d (us ++ ts))); [|now apply convert_ext].
    apply convert_unseen; auto. intros N. unfold sign_of. rewrite (scaled_neg _ _ _ _ E), <- (scaled_zero _ _ _ _ E). now destruct (Z.eqb_spec (total d (us ++ ts)) 0).
Qed.

Definition plus_zero_step (x : steps) : bool := match x with PlusZero => true | _ => false end.

Lemma filter_split {A} (q : A -> bool) l : Permutation l (filter q l ++ filter (fun x => negb (q x)) l).
Proof. induction l as [|x l IH]; [constructor|]. cbn [filter]. destruct (q x); cbn [negb app]; [now constructor|]. now apply Permutation_cons_app. Qed.

(** * Trees of sums *)

(** An exponent that no result exceeds. *)
Definition sum_top (bs : list bounds) (d : sum) : Z :=
  if match fraction_bits d, zero_exponent d with None, _ | Some _, ZeroNone => true | _, _ => false end && negb (normalise d) && shapes_ok bs
  then Z.min (emax (out d)) (Z.max (emin (out d)) (Z.log2 (all_magnitudes bs d) + 1 + least_magnitude bs d)) else emax (out d).

(** What is known of a sum's result: a multiple of what its operands are multiples of, and no larger than all of them. *)
Definition sum_result (bs : list bounds) (d : sum) : bounds :=
  let b := result_bounds (out d) in
  match carry_bits d with
  | Some _ => b
  | None => {| shape_of := shape_of b; lowest := lowest b; grid := Z.max (grid b) (Z.min (emax (out d) - p (out d)) (sum_grid bs d)); upto := sum_top bs d;
               low_upto := low_upto b; width := width b |}
  end.

Lemma convert_top c s n u k z : 0 <= p c -> emin c <= k -> (Rabs (IZR n * bp u) <= bp k)%R -> convert c s n u = Num z -> exp z <= k.
Proof.
  intros P M A. unfold convert. set (ex := last_bit c n u). set (r := round_div (rho c) n (ex - u)).
  destruct (Z.eqb_spec r 0) as [R|R]; cbn [orb]; [intros H; injection H as <-; exact M|].
  assert (T : Z.log2 (Z.abs r) + ex <= k).
  { pose proof (round_ok c n u) as E. cbv zeta in E. fold ex r in E.
    assert (F : (Rabs (flt_rnd c (IZR n * bp u)) <= bp k)%R).
    { assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt_rnd. apply abs_round_le_generic; auto with typeclass_instances.
      apply generic_format_FLT. exists (Float radix2 1 k); [unfold F2R; cbn; ring| |cbn; lia]. cbn [Fnum]. change (Z.abs 1) with 1.
      change (Zpower radix2 (p c + 1)) with (2 ^ (p c + 1)). apply Z.pow_gt_1; lia. }
    rewrite <- E, Rabs_mult, (Rabs_pos_eq (bp ex)), <- abs_IZR in F by apply bpow_ge_0. destruct (Z.log2_spec (Z.abs r)) as [L _]; [lia|].
    apply IZR_le in L. rewrite <- bp_Z in L by apply Z.log2_nonneg. apply (le_bpow radix2). rewrite bpow_plus. eapply Rle_trans; [|exact F].
    apply Rmult_le_compat_r; [apply bpow_ge_0|exact L]. }
  destruct (flushes c && _); [intros H; injection H as <-; exact M|]. destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)).
  - destruct (is_infinite c n); [easy|]. intros H0. injection H0 as <-. cbn. lia.
  - intros H0. injection H0 as <-. cbn [exp]. lia.
Qed.

Lemma sum_top_ok bs d vs z : range_ok (out d) = true -> carry_bits d = None -> covered bs vs -> sum_values d vs = Num z -> exp z <= sum_top bs d.
Proof.
  intros R K Cv E. destruct (sum_inside d vs R z E) as [_ [B [_ [U _]]]]. assert (T : exp z <= emax (out d)).
  { unfold under in U. cbn in U, B. unfold range_ok in R. apply andb_prop in R. destruct R as [_ R]. apply Z.leb_le in R. destruct (low_sig z); lia. }
  unfold sum_top. destruct (_ && _ && _) eqn:C; [|exact T]. repeat rewrite andb_true_iff in C. destruct C as [[Z N] Sh]. apply negb_true_iff in N. apply Z.min_glb; [exact T|].
  assert (Zn : fraction_bits d <> None -> zero_exponent d = ZeroNone) by (destruct (fraction_bits d); [|easy]; now destruct (zero_exponent d)).
  unfold sum_values in E. destruct (numbers vs) as [ts|] eqn:En; [|exfalso; now apply (special_not_num vs z)]. unfold sum_numbers in E.
  pose proof (sum_magnitude bs d vs ts K N Sh Zn Cv En) as A. unfold range_ok in R. apply andb_prop in R. destruct R as [P _]. apply Z.leb_le in P.
  eapply convert_top; [exact P|apply Z.le_max_l| |exact E]. eapply Rle_trans; [exact A|].
  apply Rle_trans with (bp (Z.log2 (all_magnitudes bs d) + 1 + least_magnitude bs d)); [|apply bpow_le; lia]. rewrite bpow_plus. apply Rmult_le_compat_r; [apply bpow_ge_0|].
  rewrite bp_Z by (pose proof (Z.log2_nonneg (all_magnitudes bs d)); lia). apply IZR_le. destruct (Z_lt_le_dec 0 (all_magnitudes bs d)) as [Q|Q].
  - destruct (Z.log2_spec _ Q) as [_ L]. rewrite <- Z.add_1_r in L. lia.
  - pose proof (Z.pow_nonneg 2 (Z.log2 (all_magnitudes bs d) + 1)). lia.
Qed.

Lemma convert_multiple c s n u g z : (2 ^ Z.max 0 (g - u) | n) -> g <= emax c - p c -> convert c s n u = Num z -> multiple g z.
Proof.
  intros M G. unfold convert. set (ex := last_bit c n u). set (r := round_div (rho c) n (ex - u)). assert (Mr : (2 ^ Z.max 0 (g - ex) | r)) by now apply round_multiple.
  destruct (_ || _); [intros H; injection H as <-; now apply multiple_zero|]. destruct (emax c <? _).
  - destruct (is_infinite c n); [easy|]. intros H. injection H as <-. apply multiple_lsb. unfold lsb. cbn. lia.
  - intros H. injection H as <-. unfold multiple, lsb. cbn [exp frac]. assert (Sg : signed {| neg := r <? 0; sig := Z.abs r; exp := Z.max (Z.log2 (Z.abs r) + ex) (emin c);
      frac := Z.max (Z.log2 (Z.abs r) + ex) (emin c) - ex |} = r) by (unfold signed; cbn; destruct (Z.ltb_spec r 0); lia).
    rewrite Sg. replace (Z.max (Z.log2 (Z.abs r) + ex) (emin c) - (Z.max (Z.log2 (Z.abs r) + ex) (emin c) - ex)) with ex by lia. exact Mr.
Qed.

Lemma sum_result_inside bs d vs : range_ok (out d) = true -> covered bs vs -> inside (sum_result bs d) (sum_values d vs).
Proof.
  intros R Cv. pose proof (sum_inside d vs R) as I. unfold sum_result. destruct (carry_bits d) eqn:K; [exact I|].
  intros x E. destruct (I x E) as [A [B [M [U W]]]].
  split; [exact A|split; [exact B|split; [|split; [unfold under in *; pose proof (sum_top_ok bs d vs x R K Cv E); destruct (low_sig x); auto|exact W]]]]. cbn [grid].
  destruct (Z.max_spec (grid (result_bounds (out d))) (Z.min (emax (out d) - p (out d)) (sum_grid bs d))) as [[_ ->]|[_ ->]]; [|exact M].
  unfold sum_values in E. destruct (numbers vs) as [ts|] eqn:En; [|exfalso; now apply (special_not_num vs x)]. unfold sum_numbers in E.
  eapply convert_multiple; [|apply Z.le_min_l|exact E]. eapply Z.divide_trans; [|exact (total_grid bs d vs ts K Cv En)]. apply pow_divides. lia.
Qed.

(** A +0 is a multiple of everything. *)
Definition zero_bounds (c : conversion) : bounds :=
  {| shape_of := number_shape (p c); lowest := emin c; grid := emax c; upto := emin c; low_upto := emin c; width := p c |}.

(** The bounds of an operand of a step of one kind of sum, from those of products and of c. *)
Fixpoint operand_bounds (tb cb : bounds) (d : sum) (x : steps) {struct x} : bounds :=
  match x with
  | Product _ => tb
  | C => cb
  | Step (Stage e) l => sum_result (map (operand_bounds tb cb e) l) e
  | _ => zero_bounds (out d)
  end.

(** A sum whose results are no -0, and that are taken as they are. *)
Definition positive_step (r : flush_rule) (x : steps) : bool :=
  match x with
  | Step (Stage e) _ => range_ok (out e) && match zsign (out e) with Positive => true | _ => false end &&
      match r with Kept | PositiveZero => true | SignedZero => flushes (out e) | HiddenBit => false end
  | _ => false
  end.

(** Trees of the same sums, parameters of each at other values, or not; without +0 among their operands, or with it. *)
Fixpoint idle_steps (q : flush_rule) (tb cb : bounds) (t t' : steps) {struct t} : bool :=
  match t, t' with
  | Product k, Product k' => Nat.eqb k k'
  | C, C | PlusZero, PlusZero => true
  | Step (Stage d) l, Step (Stage d') l' =>
      let z := existsb plus_zero_step l in
      let drops := z && negb (existsb plus_zero_step l') && zero_free d' in
      idle_sum (z, existsb (positive_step q) l') (map (operand_bounds tb cb d) l) d d' &&
      (fix go (l l' : list steps) : bool := match l with
         | [] => match l' with [] => true | _ => false end
         | x :: r => if drops && plus_zero_step x then go r l' else
                     match l' with x' :: r' => idle_steps q tb cb x x' && go r r' | [] => false end
         end) l l'
  | _, _ => false
  end.

Lemma zero_inside d : range_ok (out d) = true -> inside (zero_bounds (out d)) (zero_of (Floating (out d))).
Proof.
  intros O x H. injection H as <-. unfold range_ok in O. apply andb_prop in O. destruct O as [P M]. apply Z.leb_le in P, M.
  cbn. split; [|split; [lia|split; [now apply multiple_zero|split; [unfold under; cbn; lia|lia]]]]. split; cbn [sig frac]; [lia|]. rewrite Rmult_0_l. unfold number_shape. cbn [fst snd].
  apply Rmult_le_pos; [|apply bpow_ge_0]. apply IZR_le. assert (0 < 2 ^ (p (out d) + 1)) by (apply Z.pow_pos_nonneg; lia). lia.
Qed.

Lemma idle_same_zero z bs d d' : idle_sum z bs d d' = true -> zero_of (Floating (out d')) = zero_of (Floating (out d)).
Proof.
  unfold idle_sum. intros O. apply andb_prop in O. destruct O as [_ O]. unfold zero_of. apply orb_prop in O. destruct O as [O|O].
  - destruct (sum_eq _ _) as [E|]; [|easy]. destruct (plainer_out z bs d d') as [A B]. rewrite <- E in A, B. now rewrite A, B.
  - repeat rewrite andb_true_iff in O. destruct O as [_ O]. destruct (sum_eq _ _) as [E|]; [|easy].
    destruct (plainer_out z (map lead_bounds bs) (with_normalise d false) (with_normalise d' false)) as [A B]. rewrite E. cbn [out with_normalise]. cbn [out with_normalise] in A, B. now rewrite A, B.
Qed.

Lemma positive_zero c s n u v : 0 <= p c -> zsign c = Positive -> convert c s n u = Num v -> is_zero v = true -> neg v = false.
Proof.
  intros Pc P. unfold convert. rewrite P. set (ex := last_bit c n u). set (r := round_div (rho c) n (ex - u)). destruct (Z.eqb_spec r 0) as [R|R]; cbn [orb andb].
  { intros H. injection H as <-. reflexivity. }
  destruct (flushes c && _); [intros H; injection H as <-; reflexivity|]. destruct (emax c <? _).
  - destruct (is_infinite c n); [easy|]. intros H. injection H as <-. unfold is_zero. cbn [sig neg]. intros Z. apply Z.eqb_eq in Z.
    pose proof (Z.pow_gt_1 2 (p c + 1)). lia.
  - intros H. injection H as <-. unfold is_zero. cbn [sig neg]. intros Z. apply Z.eqb_eq in Z. lia.
Qed.

Lemma flushed_whole c s n u x : range_ok c = true -> flushes c = true -> convert c s n u = Num x -> is_subnormal x = false.
Proof.
  unfold range_ok. intros O F. apply andb_prop in O. destruct O as [P _]. apply Z.leb_le in P. unfold convert. rewrite F. cbn [andb]. set (ex := last_bit c n u). set (r := round_div (rho c) n (ex - u)).
  destruct (Z.eqb_spec r 0) as [R|R]; cbn [orb]; [intros H; injection H as <-; reflexivity|].
  destruct (Z.ltb_spec (Z.log2 (Z.abs r) + ex) (emin c)); cbn [orb]; [intros H0; injection H0 as <-; reflexivity|].
  destruct (tiny c && is_tiny c n u); [intros H0; injection H0 as <-; reflexivity|]. destruct (emax c <? _).
  - destruct (is_infinite c n); [easy|]. intros H0. injection H0 as <-. unfold is_subnormal. cbn [sig frac]. apply andb_false_intro2.
    replace (2 ^ (p c + 1) - 1) with (Z.pred (2 ^ (p c + 1))) by lia. rewrite Z.log2_pred_pow2 by lia. apply Z.ltb_ge. lia.
  - intros H0. injection H0 as <-. unfold is_subnormal. cbn [sig frac]. apply andb_false_intro2. apply Z.ltb_ge. lia.
Qed.

Section Steps.
Variables (tb cb : bounds) (r : flush_rule) (ps : list val) (c : val).
Hypothesis (K : kept_or_zero r = true) (Hp : Forall (inside tb) ps) (Hc : inside cb c).

Lemma product_inside k : inside tb (nth k ps NaN).
Proof.
  destruct (le_lt_dec (length ps) k) as [L|L]; [rewrite nth_overflow by lia; now intros x H|].
  rewrite Forall_forall in Hp. apply Hp. now apply nth_In.
Qed.

Lemma idle_steps_ok t : forall t', idle_steps r tb cb t t' = true ->
  eval_steps r ps c t' = eval_steps r ps c t /\
  match t with Step (Stage d) l => inside (sum_result (map (operand_bounds tb cb d) l) d) (eval_steps r ps c t) | _ => True end.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; intros t' O; destruct t' as [k'| | |s' l']; cbn [idle_steps] in O; try easy.
  - apply Nat.eqb_eq in O. subst. auto.
  - destruct s as [d|]; easy.
  - destruct s as [d|]; easy.
  - destruct s as [d|]; easy.
  - destruct s as [d|], s' as [d'|]; try easy. cbv zeta in O. set (z := existsb plus_zero_step l) in O. set (drops := z && _ && _) in O.
    apply andb_prop in O. destruct O as [O G]. cbn [eval_steps add]. pose proof (idle_range _ _ _ _ O) as R.
    set (f := fun x => let v := eval_steps r ps c x in
      match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding (Stage d)) | _ => v end).
    set (f' := fun x => let v := eval_steps r ps c x in
      match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding (Stage d')) | _ => v end).
    assert (In : Forall2 inside (map (operand_bounds tb cb d) l) (map f l) /\
                 map f' l' = map f (filter (fun x => negb (drops && plus_zero_step x)) l)).
    { pose proof (idle_same_zero _ _ _ _ O) as Z0. clearbody drops. clear -IH G R K Hp Hc Z0 f f'. revert l' G. induction IH as [|x l P IH IHl]; intros l' G; [destruct l'; [|easy]; cbn; auto|].
      assert (Px : forall x', idle_steps r tb cb x x' = true -> f' x' = f x /\ inside (operand_bounds tb cb d x) (f x)).
      { intros x' E. destruct (P x' E) as [P1 P2]. unfold f, f'. cbv zeta. rewrite P1. destruct x as [k| | |[e|] m]; cbn [operand_bounds].
        - destruct x'; try easy; (split; [reflexivity|exact (product_inside k)]).
        - destruct x'; try easy; (split; [reflexivity|exact Hc]).
        - destruct x'; try easy; cbn [stage_rounding]; rewrite Z0; (split; [reflexivity|now apply zero_inside]).
        - destruct x' as [| | |[|] ?]; try easy; (split; [reflexivity|now apply flush_inside]).
        - destruct x'; easy. }
      cbn [map filter]. destruct (drops && plus_zero_step x) eqn:D; cbn [negb].
      - destruct (IHl l' G) as [F M]. split; [|exact M]. constructor; auto. destruct (Px PlusZero); auto. destruct x; try (rewrite andb_false_r in D; easy). reflexivity.
      - destruct l' as [|x' l']; [easy|]. apply andb_prop in G. destruct G as [G1 G2]. destruct (Px x' G1) as [E I]. destruct (IHl l' G2) as [F M].
        split; [now constructor|]. cbn [map]. now rewrite E, M. }
    destruct In as [F M]. split; [|apply sum_result_inside; [exact R|now apply covered_all]]. rewrite M.
    assert (Zp : has_plus_zero (z, existsb (positive_step r) l') (map f l)).
    { split; cbn [fst snd]; intros Hz.
      - unfold z in Hz. apply existsb_exists in Hz. destruct Hz as [x [Hx Q]]. destruct x; try easy.
        exists {| neg := false; sig := 0; exp := emin (out d); frac := p (out d) |}. split; [|split; reflexivity]. apply in_map_iff. exists PlusZero. split; auto.
      - apply existsb_exists in Hz. destruct Hz as [x [Hx Q]]. exists (f' x). split.
        { assert (Hf : In (f' x) (map f' l')) by now apply in_map. rewrite M in Hf. apply in_map_iff in Hf. destruct Hf as [y [<- Hy]]. apply in_map. apply filter_In in Hy. apply Hy. }
        destruct x as [| | |[e|] m]; try easy. unfold positive_step in Q. intros y E Zy. unfold f' in E. cbn [eval_steps add] in E. destruct (sum_values e _) as [v| |] eqn:Sv; try easy.
        repeat rewrite andb_true_iff in Q. destruct Q as [[Rg Qz] Qr]. assert (Ps : zsign (out e) = Positive) by now destruct (zsign (out e)).
        assert (Cv : exists s0 n0 u0, convert (out e) s0 n0 u0 = Num v).
        { unfold sum_values in Sv. destruct (numbers _); [|exfalso; now apply (special_not_num _ v Sv)]. unfold sum_numbers in Sv. eauto. }
        destruct Cv as [s0 [n0 [u0 Cv]]].
        assert (Pv : is_zero v = true -> neg v = false).
        { intros Zv. unfold range_ok in Rg. apply andb_prop in Rg. destruct Rg as [Pp _]. apply Z.leb_le in Pp. now apply (positive_zero _ _ _ _ _ Pp Ps Cv). }
        unfold flush in E. destruct (is_subnormal v) eqn:Sb; cbn [negb] in E; [|injection E as <-; auto].
        destruct r; try easy; try (injection E as <-; auto); exfalso; rewrite (flushed_whole _ _ _ _ _ Rg Qr Cv) in Sb; easy. }
    rewrite <- (idle_sum_ok _ _ d d' (map f l) O (covered_all _ _ F) Zp).
    destruct drops eqn:D; cbn [andb negb] in *.
    + assert (Zf : zero_free d' = true) by (unfold drops in D; apply andb_prop in D; apply D).
      pose proof (Permutation_map f (filter_split plus_zero_step l)) as Pm. rewrite map_app in Pm.
      pose proof (add_perm (Stage d') _ _ Pm) as A. cbn [add] in A. rewrite A.
      assert (U : exists us, map f (filter plus_zero_step l) = map Num us /\ forallb is_zero us = true).
      { clear. induction l as [|x l [us [E U]]]; [exists []; auto|]. cbn [filter]. destruct x; cbn [plus_zero_step]; eauto.
        exists ({| neg := false; sig := 0; exp := emin (out d); frac := p (out d) |} :: us). cbn [map]. rewrite E. split; [reflexivity|exact U]. }
      destruct U as [us [-> Uz]]. now rewrite zeros_dropped.
    + do 2 f_equal. clear. induction l; cbn; congruence.
Qed.
End Steps.

(** * Products *)

Definition top_of (b : bounds) : Z := Z.max (upto b) (low_upto b).

Definition times_bounds (b c : bounds) : bounds :=
  {| shape_of := (fst (shape_of b) * fst (shape_of c), snd (shape_of b) + snd (shape_of c)); lowest := lowest b + lowest c;
     grid := grid b + grid c; upto := top_of b + top_of c; low_upto := Z.max (low_upto b + top_of c) (top_of b + low_upto c);
     width := width b + width c |}.

Lemma product_of_leading a b m n : 1 <= a -> 1 <= b -> 2 ^ m <= a -> 2 ^ n <= b -> 2 ^ (m + n) <= a * b.
Proof.
  intros A B M N. destruct (Z_lt_le_dec (m + n) 0) as [L|L]; [rewrite Z.pow_neg_r by lia; nia|].
  destruct (Z_lt_le_dec m 0) as [Lm|Lm]; [assert (2 ^ (m + n) <= 2 ^ n) by (apply Z.pow_le_mono_r; lia); nia|].
  destruct (Z_lt_le_dec n 0) as [Ln|Ln]; [assert (2 ^ (m + n) <= 2 ^ m) by (apply Z.pow_le_mono_r; lia); nia|].
  rewrite Z.pow_add_r by lia. apply Z.mul_le_mono_nonneg; auto; apply Z.pow_nonneg; lia.
Qed.

Lemma times_under b c x y : 0 <= sig x -> 0 <= sig y -> under b x -> under c y -> under (times_bounds b c) (times x y).
Proof.
  intros Sx Sy. unfold under, low_sig, is_zero, top_of. cbn [times sig exp frac times_bounds upto low_upto]. unfold top_of.
  pose proof (product_of_leading (sig x) (sig y) (frac x) (frac y)) as Lead. pose proof (Z.eq_mul_0 (sig x) (sig y)) as Z0.
  revert Lead Z0. generalize (sig x * sig y) as m, (2 ^ (frac x + frac y)) as n, (2 ^ frac x) as i, (2 ^ frac y) as j. intros m n i j Lead Z0.
  destruct (Z.eqb_spec (sig x) 0), (Z.eqb_spec (sig y) 0), (Z.eqb_spec m 0), (Z.ltb_spec (sig x) i), (Z.ltb_spec (sig y) j), (Z.ltb_spec m n); cbn [orb]; lia.
Qed.

Lemma times_inside b c v w : inside b v -> inside c w -> inside (times_bounds b c) (product v w).
Proof.
  intros Hv Hw x H. apply product_num in H. destruct H as [y [z [-> [-> ->]]]].
  destruct (Hv y eq_refl) as [[A1 A2] [A3 [A4 [A5 A6]]]]. destruct (Hw z eq_refl) as [[B1 B2] [B3 [B4 [B5 B6]]]].
  split; [|split; [|split; [|split; [now apply times_under|cbn; lia]]]]; [cbn; split|cbn|].
  - cbn. nia.
  - cbn [sig frac fst snd times]. rewrite !mult_IZR, !Z.opp_add_distr, !bpow_plus.
    replace (IZR (sig y) * IZR (sig z) * (bp (- frac y) * bp (- frac z)))%R with ((IZR (sig y) * bp (- frac y)) * (IZR (sig z) * bp (- frac z)))%R by ring.
    replace (IZR (fst (shape_of b)) * IZR (fst (shape_of c)) * (bp (- snd (shape_of b)) * bp (- snd (shape_of c))))%R
      with ((IZR (fst (shape_of b)) * bp (- snd (shape_of b))) * (IZR (fst (shape_of c)) * bp (- snd (shape_of c))))%R by ring.
    apply Rmult_le_compat; auto; apply Rmult_le_pos; try apply bpow_ge_0; now apply IZR_le.
  - lia.
  - destruct A4 as [i A4], B4 as [j B4]. unfold multiple. assert (Sg : signed (times y z) = signed y * signed z) by (unfold signed, times; cbn; destruct (neg y), (neg z); cbn; lia).
    rewrite Sg, A4, B4. cbn [grid times_bounds].
    replace (i * 2 ^ Z.max 0 (grid b - lsb y) * (j * 2 ^ Z.max 0 (grid c - lsb z))) with (i * j * 2 ^ (Z.max 0 (grid b - lsb y) + Z.max 0 (grid c - lsb z)))
      by (rewrite Z.pow_add_r by lia; ring).
    apply Z.divide_mul_r, pow_divides. unfold lsb, times. cbn [exp frac]. lia.
Qed.

(** A factor as its format has it, or first converted to another one. *)
Definition code_bounds (f : format) (g : option format) : bounds :=
  match g with
  | None => format_bounds f
  | Some g => {| shape_of := number_shape (fbits f); lowest := least g; grid := least f - fbits f; upto := Z.max (least g) (format_top f);
                 low_upto := least g; width := fbits f + Z.max 0 (least g - least f) |}
  end.

Lemma operand_inside f g w : format_ok f = true ->
  forall x, match g with Some g => on_num (in_format g) (decode f w) | None => decode f w end = Num x ->
  (inside (code_bounds f g) (Num x) /\ 0 <= sig x <= 2 ^ (fbits f + 1) - 1).
Proof.
  intros O x H. destruct g as [g|]. 2: { split; [rewrite <- H; now apply decode_inside|now destruct (decode_num _ _ _ O H)]. }
  destruct (decode f w) as [y| |] eqn:D; try easy. injection H as <-. pose proof (decode_top _ _ _ O D) as T.
  destruct (decode_num _ _ _ O D) as [[S1 S2] [F [L _]]]. unfold format_ok in O. apply andb_prop in O. destruct O as [O _]. apply Z.leb_le in O.
  assert (P : 0 < 2 ^ (fbits f + 1)) by (apply Z.pow_pos_nonneg; lia). split; [|cbn; lia].
  unfold in_format. set (e := if is_zero y then _ else _).
  assert (Lg : least_exponent g = least g) by (unfold least_exponent, least; destruct (has_zero g); lia).
  assert (E : e = if sig y =? 0 then least g else Z.max (Z.log2 (sig y) + (exp y - frac y)) (least g)).
  { unfold e, own_exponent, lsb, is_zero. now rewrite Lg, (Z.abs_eq (sig y)) by lia. }
  clearbody e. intros x X. injection X as <-. destruct (Z.eqb_spec (sig y) 0) as [Z|Z].
  - split; [|split; [|split; [now apply multiple_zero; unfold is_zero; cbn; rewrite Z|split]]]; unfold under, low_sig, is_zero; cbn; rewrite ?Z; cbn; try lia.
    split; [cbn; lia|]. cbn. rewrite Z, Rmult_0_l. apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0].
  - destruct (Z.log2_spec (sig y)) as [L1 L2]; [lia|]. pose proof (Z.log2_nonneg (sig y)) as L0. set (l := Z.log2 (sig y)) in *.
    assert (Lf : l <= fbits f) by (assert (l < fbits f + 1); [apply Z.log2_lt_pow2; lia|lia]).
    split; [|split; [|split; [apply multiple_lsb|split]]]; [apply leading_fits| | | |]; unfold under, low_sig, is_zero;
      cbn [at_exponent sig exp frac shape_of lowest grid upto low_upto code_bounds width]; fold l; try lia; [unfold lsb; cbn; lia|].
    destruct (Z.eqb_spec (sig y) 0); [lia|]. cbn [orb]. destruct (Z.ltb_spec (sig y) (2 ^ (frac y + (e - exp y)))) as [Q|Q]; [|lia].
    destruct (Z.max_spec (l + (exp y - frac y)) (least g)) as [[_ M]|[_ M]]; [lia|]. exfalso.
    replace (frac y + (e - exp y)) with l in Q by lia. lia.
Qed.

(** Normalised, and so with the exponent of its leading bit. *)
Definition factor_bounds (f : format) (g : option format) (normal : bool) : bounds :=
  let b := code_bounds f g in
  if normal
  then {| shape_of := shape_of b; lowest := Z.min (lowest b) (grid b); grid := grid b; upto := upto b; low_upto := low_upto b; width := width b |}
  else b.

Lemma operand_tops f g : low_upto (code_bounds f g) <= upto (code_bounds f g).
Proof. destruct g; cbn; unfold format_top; lia. Qed.

Lemma factor_inside q r f g w : format_ok f = true -> kept_or_zero r = true ->
  inside (factor_bounds f g (normalise_factors q)) (factor q r (match g with Some g => on_num (in_format g) (decode f w) | None => decode f w end)).
Proof.
  intros O K. set (v := match g with Some g => _ | None => _ end). unfold factor, factor_bounds.
  assert (H : forall x, v = Num x -> inside (code_bounds f g) (Num x) /\ 0 <= sig x <= 2 ^ (fbits f + 1) - 1) by (intros x E; now apply operand_inside with w).
  assert (V : inside (code_bounds f g) v) by (intros x E; destruct (H x E) as [I _]; rewrite E in *; now apply I).
  pose proof (flush_inside r _ _ K V) as I. destruct (normalise_factors q); [|exact I].
  intros x E. destruct (flush r v) as [y| |] eqn:Fl; try easy. injection E as <-. destruct (I y eq_refl) as [A [B [C [U W]]]].
  assert (S : 0 <= sig y <= 2 ^ (fbits f + 1) - 1).
  { destruct v as [z| |]; try easy. destruct (H z eq_refl) as [_ S]. unfold flush in Fl. destruct (negb (is_subnormal z)); [injection Fl as <-; exact S|].
    destruct r; try easy; injection Fl as <-; cbn; lia. }
  unfold normalised. destruct (is_subnormal y) eqn:Q.
  - pose proof (subnormal_low y Q) as Lo. unfold is_subnormal in Q. apply andb_prop in Q. destruct Q as [Q1 Q2]. apply negb_true_iff in Q1. apply Z.ltb_lt in Q2.
    unfold is_zero in Q1. apply Z.eqb_neq in Q1. pose proof (Z.log2_nonneg (sig y)) as L0. destruct (Z.log2_spec (sig y)) as [L1 L2]; [lia|].
    assert (Pw : 0 < 2 ^ (frac y - Z.log2 (sig y))) by (apply Z.pow_pos_nonneg; lia). unfold lsb in *.
    assert (Sh : shape_of (code_bounds f g) = number_shape (fbits f)) by now destruct g.
    assert (G : grid (code_bounds f g) <= Z.log2 (sig y) + (exp y - frac y)).
    { destruct C as [m C]. assert (m <> 0) by (intros ->; unfold signed in C; destruct (neg y); lia).
      assert (Z.max 0 (grid (code_bounds f g) - (exp y - frac y)) <= Z.log2 (sig y)); [|lia].
      rewrite <- (Z.log2_pow2 (Z.max 0 (grid (code_bounds f g) - (exp y - frac y)))) by lia. apply Z.log2_le_mono.
      assert (Ab : sig y = Z.abs m * 2 ^ Z.max 0 (grid (code_bounds f g) - (exp y - frac y))).
      { rewrite <- (Z.abs_eq (2 ^ _)) by (apply Z.pow_nonneg; lia). rewrite <- Z.abs_mul. unfold lsb in C. rewrite <- C. unfold signed. destruct (neg y); lia. }
      pose proof (Z.pow_nonneg 2 (Z.max 0 (grid (code_bounds f g) - (exp y - frac y))) ltac:(lia)). nia. }
    cbn [shape_of lowest grid upto low_upto width]. rewrite Sh. split; [|split; [|split; [|split]]].
    + unfold format_ok in O. apply andb_prop in O. destruct O as [O _]. apply Z.leb_le in O. set (l := Z.log2 (sig y)) in *. clear G.
      destruct (leading_fits (fbits f) {| neg := false; sig := sig y; exp := 0; frac := l |}) as [_ G]; [cbn; lia|lia|cbn; fold l; lia|].
      split; [cbn; nia|]. cbn [sig frac] in *. rewrite mult_IZR, <- bp_Z by lia. rewrite Rmult_assoc, <- bpow_plus.
      replace (frac y - l + - frac y) with (- l) by lia. exact G.
    + cbn. lia.
    + destruct C as [m C]. unfold multiple, lsb. cbn [exp frac]. set (k := frac y - Z.log2 (sig y)) in *.
      assert (Sg : signed {| neg := neg y; sig := sig y * 2 ^ k; exp := exp y - k; frac := frac y |} = signed y * 2 ^ k) by (unfold signed; cbn; destruct (neg y); lia).
      rewrite Sg, C, <- Z.mul_assoc, <- Z.pow_add_r by (unfold k; lia). apply Z.divide_mul_r, pow_divides. unfold lsb, k. lia.
    + unfold under in *. rewrite Lo in U. pose proof (operand_tops f g). cbn [upto low_upto exp]. match goal with |- _ <= if ?q then _ else _ => destruct q end; lia.
    + exact W.
  - cbn [shape_of lowest grid upto low_upto width]. split; [|split; [|split; [|split]]]; auto. lia.
Qed.

Lemma negate_inside b v : inside b v -> inside b (negate v).
Proof.
  intros H x E. destruct v as [y| |]; try easy. injection E as <-. destruct (H y eq_refl) as [A [B [C [U W]]]].
  split; [exact A|split; [exact B|split; [|split; [exact U|exact W]]]]. unfold multiple in *. assert (Sg : signed {| neg := negb (neg y); sig := sig y; exp := exp y; frac := frac y |} = - signed y) by (unfold signed; cbn; destruct (neg y); cbn; lia).
  rewrite Sg. now apply Z.divide_opp_r.
Qed.

(** * Designs *)

(** What is known of exact products of whole factors. *)
Definition exact_bounds (d : design) : option bounds :=
  let q := factors d in
  if format_ok (a_format d) && format_ok (b_format d) && kept_or_zero (of_a q) && kept_or_zero (of_b q) && (exponent_step q =? 1) &&
     match zero_terms q with None => true | _ => false end
  then let one f := factor_bounds f (converted d) (normalise_factors q) in
       let t := times_bounds (one (a_format d)) (one (b_format d)) in
       match scales d with
       | None => Some t
       | Some (f, _) => if format_ok f then Some (times_bounds (times_bounds t (format_bounds f)) (format_bounds f)) else None
       end
  else None.

(** A power of two that numbers of these bounds do not exceed. *)
Definition ceiling (b : bounds) : Z := Z.log2_up (fst (shape_of b)) + (Z.max (upto b) (low_upto b) - snd (shape_of b)).

Lemma num_ceiling b x : inside b (Num x) -> (Rabs (V x) <= bp (ceiling b))%R.
Proof.
  intros I. destruct (I x eq_refl) as [[S F] [_ [_ [U _]]]]. unfold under in U.
  assert (Ab : Rabs (V x) = (IZR (sig x) * bp (- frac x) * bp (exp x))%R).
  { unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. rewrite Rmult_assoc, <- bpow_plus. unfold lsb. f_equal; [|f_equal; lia].
    rewrite <- abs_IZR. f_equal. unfold signed. destruct (neg x); lia. }
  rewrite Ab. set (t := Z.max (upto b) (low_upto b)). assert (E : exp x <= t) by (unfold t; destruct (low_sig x); lia).
  apply Rle_trans with (IZR (fst (shape_of b)) * bp (- snd (shape_of b)) * bp t)%R.
  - apply Rmult_le_compat; auto; [|apply bpow_ge_0|now apply bpow_le]. apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0].
  - unfold ceiling. fold t. rewrite bpow_plus, Rmult_assoc, <- bpow_plus. replace (- snd (shape_of b) + t) with (t - snd (shape_of b)) by lia.
    apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by apply Z.log2_up_nonneg. apply IZR_le.
    destruct (Z.le_gt_cases (fst (shape_of b)) 1) as [L|L]; [rewrite Z.log2_up_eqn0 by lia; cbn; lia|]. now apply Z.log2_up_spec.
Qed.

(** What is known of a rounded number: a multiple of what the number is a multiple of, and no larger than a power of two above it. *)
Definition rounded_bounds (b : bounds) (c : conversion) : bounds :=
  {| shape_of := shape_of (result_bounds c); lowest := emin c; grid := Z.max (emin c - p c) (Z.min (emax c - p c) (grid b));
     upto := Z.min (emax c) (Z.max (emin c) (ceiling b)); low_upto := emin c; width := p c + 1 |}.

Lemma rounded_inside b c y : range_ok c = true -> inside b (Num y) -> inside (rounded_bounds b c) (round_num (Floating c) y).
Proof.
  intros O I z H. assert (O' := O). unfold range_ok in O'. apply andb_prop in O'. destruct O' as [P M]. apply Z.leb_le in P, M.
  unfold round_num, round_to in H. destruct (convert_inside c (neg y) (signed y) (lsb y) O z H) as [A [B [G [U W]]]].
  assert (T : exp z <= Z.max (emin c) (ceiling b)).
  { apply (convert_top c (neg y) (signed y) (lsb y)); auto; [lia|]. change (IZR (signed y) * bp (lsb y))%R with (V y).
    eapply Rle_trans; [exact (num_ceiling b y I)|apply bpow_le; lia]. }
  split; [exact A|split; [exact B|split; [|split; [|exact W]]]].
  - cbn [grid rounded_bounds]. destruct (Z.max_spec (emin c - p c) (Z.min (emax c - p c) (grid b))) as [[_ ->]|[_ ->]]; [|exact G].
    destruct (I y eq_refl) as [_ [_ [Mu _]]]. eapply convert_multiple; [|apply Z.le_min_l|exact H]. eapply Z.divide_trans; [|exact Mu]. apply pow_divides. lia.
  - unfold under in *. cbn [upto low_upto rounded_bounds result_bounds] in *. destruct (low_sig z); lia.
Qed.

(** What is known of products: by the formats of the factors, and by their rounding. *)
Definition term_bounds (d : design) : option bounds :=
  match product_rounding (factors d) with
  | Some (Floating c) => if range_ok c then Some (match exact_bounds d with Some b => rounded_bounds b c | None => result_bounds c end) else None
  | Some (Fixed _) => None
  | None => exact_bounds d
  end.

Lemma exact_inside d tb x : exact_bounds d = Some tb -> made_by d x -> zero_terms (factors d) = None /\
  inside tb (fold_left product (scaled_by x) (if subtracted (factors d) (index x) then negate (product (a_of d x) (b_of d x)) else product (a_of d x) (b_of d x))).
Proof.
  unfold exact_bounds. intros T M. destruct (_ && _) eqn:G in T; [|easy]. repeat rewrite andb_true_iff in G. destruct G as [[[[[Oa Ob] Ka] Kb] St] Zt].
  destruct (zero_terms (factors d)); [easy|]. split; [reflexivity|]. unfold made_by in M.
  set (one := fun f => factor_bounds f (converted d) (normalise_factors (factors d))) in T.
  assert (A : inside (one (a_format d)) (a_of d x)) by (unfold a_of, operand; rewrite St; now apply factor_inside).
  assert (B : inside (one (b_format d)) (b_of d x)) by (unfold b_of, operand; rewrite St; now apply factor_inside).
  pose proof (times_inside _ _ _ _ A B) as P. set (t := times_bounds _ _) in *.
  assert (N : inside t (if subtracted (factors d) (index x) then negate (product (a_of d x) (b_of d x)) else product (a_of d x) (b_of d x)))
    by (destruct (subtracted _ _); auto using negate_inside).
  destruct (scales d) as [[f n]|].
  - destruct (format_ok f) eqn:Of; [|easy]. injection T as <-. destruct M as [a [c ->]]. cbn [fold_left].
    repeat apply times_inside; auto using decode_inside.
  - injection T as <-. now rewrite M.
Qed.

Lemma term_inside d tb x : term_bounds d = Some tb -> made_by d x ->
  inside tb (scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)).
Proof.
  unfold term_bounds. intros T M. destruct (product_rounding (factors d)) as [[c|]|] eqn:R; try easy.
  - destruct (range_ok c) eqn:O; [|easy]. injection T as <-. destruct (exact_bounds d) as [b|] eqn:E.
    + destruct (exact_inside d b x E M) as [Zt I]. unfold scaled_product. rewrite Zt, zero_as_none, R. cbv zeta.
      destruct (fold_left product _ _) as [y| |]; try (intros z H; easy).
      match goal with |- inside _ (if ?o then _ else _) => destruct o end; [intros z H; easy|now apply rounded_inside].
    + unfold scaled_product. rewrite R. cbv zeta. destruct (fold_left product _ _) as [y| |]; try (intros z H; easy).
      match goal with |- inside _ (if ?o then _ else _) => destruct o end; [intros z H; easy|]. unfold round_num, round_to. now apply convert_inside.
  - destruct (exact_inside d tb x T M) as [Zt I]. unfold scaled_product. rewrite Zt, zero_as_none, R. cbv zeta.
    destruct (fold_left product _ _) as [y| |]; try (intros z H; easy).
    match goal with |- inside _ (if ?o then _ else _) => destruct o end; [intros z H; easy|exact I].
Qed.

Lemma products_inside d tb b : term_bounds d = Some tb -> Forall (made_by d) b -> Forall (inside tb) (block_products d b).
Proof.
  intros T F. unfold block_products. apply Forall_forall. intros v H. apply in_map_iff in H. destruct H as [x [<- Hx]].
  apply term_inside; auto. rewrite Forall_forall in F. apply F. unfold ordered in Hx. destruct (odd_first d); auto. now apply swapped_incl.
Qed.

(** The conversion of the last sum. *)
Definition last_out (how : summation) : option conversion :=
  match how with
  | OneSum (Stage d) | CLast Together _ (Stage d) | InSteps (Step (Stage d) _) => Some (out d)
  | _ => None
  end.

(** The same sums, one parameter of each at another value, or not; [n] products at most, those of [tb], and c of [cb]. *)
Definition idle_summation (r : flush_rule) (tb cb : bounds) (n : nat) (how how' : summation) : bool :=
  match how, how' with
  | OneSum (Stage d), OneSum (Stage d') => idle_sum (false, false) (repeat tb n ++ [cb]) d d'
  | CLast Together (Stage d) (Stage e), CLast Together (Stage d') (Stage e') =>
      idle_sum (false, false) (repeat tb n) d d' && idle_sum (false, false) [sum_result (repeat tb n) d; cb] e e'
  | InSteps (Step s l), InSteps t => idle_steps r tb cb (Step s l) t
  | _, _ => false
  end.

Definition idle_design (d : design) (how : summation) : bool :=
  one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) && format_ok (start_format d) && kept_or_zero (c_rule d) && negb (skips d) &&
  match cutting_of d, zero_terms (factors d) with Whole, None => true | _, _ => false end &&
  match term_bounds d, last_out (sums d) with
  | Some tb, Some o => (0 <=? fst (shape_of tb)) && idle_summation (c_rule d) tb (format_bounds (start_format d)) (block d) (sums d) how &&
                       idle_summation (c_rule d) tb (result_bounds o) (block d) (sums d) how
  | _, _ => false
  end.

Lemma zsum_repeated (f : bounds -> Z) tb n : zsum (map f (repeat tb n)) = Z.of_nat n * f tb.
Proof. induction n; [reflexivity|]. cbn [repeat map]. unfold zsum in *. cbn [fold_right]. rewrite IHn. lia. Qed.

Lemma map_zsum_app (f : bounds -> Z) a b : zsum (map f (a ++ b)) = zsum (map f a) + zsum (map f b).
Proof. rewrite map_app. apply zsum_app. Qed.

Lemma inside_repeat tb ps : Forall (inside tb) ps -> Forall2 inside (repeat tb (length ps)) ps.
Proof. induction 1; cbn; constructor; auto. Qed.

Lemma covered_fewer tb n ps more vs : 0 <= fst (shape_of tb) -> (length ps <= n)%nat -> Forall (inside tb) ps -> Forall2 inside more vs ->
  covered (repeat tb n ++ more) (ps ++ vs).
Proof.
  intros Pos L F M. exists (repeat tb (length ps) ++ more). split; [apply Forall2_app; auto using inside_repeat|]. split; [split|].
  - apply Forall_forall. intros c Hc. assert (I : In c (repeat tb n ++ more)).
    { apply in_app_iff in Hc. apply in_app_iff. destruct Hc as [Hc|Hc]; auto. left. apply repeat_spec in Hc as E. subst c.
      destruct ps; [easy|]. cbn in L. destruct n; [lia|]. now left. }
    exact I.
  - rewrite !app_length, !repeat_length. lia.
  - intros g G _. rewrite !map_zsum_app, !zsum_repeated. specialize (G tb Pos).
    assert (Z.of_nat (length ps) * g tb <= Z.of_nat n * g tb) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
Qed.

Section Blocks.
Variables (d : design) (how : summation) (tb : bounds) (o : conversion).
Hypotheses (Sk : skips d = false) (W : cutting_of d = Whole) (Zt : zero_terms (factors d) = None) (K : kept_or_zero (c_rule d) = true)
  (T : term_bounds d = Some tb) (Lo : last_out (sums d) = Some o) (Pos : 0 <= fst (shape_of tb)) (B : (0 < block d)%nat).
Notation good cb := (idle_summation (c_rule d) tb cb (block d) (sums d) how = true).

Definition c_inside (v : val) : Prop := inside (format_bounds (start_format d)) v \/ inside (result_bounds o) v.

Lemma block_value_sums v b e : block_value (with_sums d e) v b =
  block_sum e (c_rule d) None (whole_factors (with_sums d e) (ordered d b)) (block_products d b) (taken_c d v).
Proof.
  unfold block_value, skipped, terms. change (skips (with_sums d e)) with (skips d). change (cutting_of (with_sums d e)) with (cutting_of d).
  rewrite Sk, W. reflexivity.
Qed.

Lemma same_design : with_sums d (sums d) = d.
Proof. now destruct d. Qed.

Lemma block_idle cb fs fs' ps c : good cb -> (length ps <= block d)%nat -> Forall (inside tb) ps -> inside cb c ->
  block_sum how (c_rule d) None fs' ps c = block_sum (sums d) (c_rule d) None fs ps c /\
  inside (result_bounds o) (block_sum (sums d) (c_rule d) None fs ps c).
Proof.
  intros G L Hp Hc. unfold idle_summation in G.
  destruct (sums d) as [[s|]| | | | | | |[| | | |] [s|] [e|]|[| | |[s|] l]] eqn:S; try easy; cbn [last_out] in Lo; try easy;
    destruct how as [[s'|]| | | | | | |[| | | |] [s'|] [e'|]|t']; try easy; injection Lo as <-; cbn [block_sum add_from inner_sum add].
  - split; [|apply sum_inside; eapply idle_range; eauto]. eapply idle_sum_ok; eauto; [apply covered_fewer; auto|apply no_plus_zero].
  - apply andb_prop in G. destruct G as [Ga Gb]. pose proof (idle_range _ _ _ _ Ga) as Ra. split; [|apply sum_inside; eapply idle_range; eauto].
    assert (Cv : covered (repeat tb (block d)) ps) by (rewrite <- (app_nil_r (repeat tb (block d))), <- (app_nil_r ps); apply covered_fewer; auto).
    assert (E : sum_values s' ps = sum_values s ps) by (eapply idle_sum_ok; eauto; apply no_plus_zero).
    rewrite E. eapply idle_sum_ok; eauto; [|apply no_plus_zero]. apply covered_all. constructor; [now apply sum_result_inside|]. constructor; [exact Hc|constructor].
  - destruct (idle_steps_ok tb cb (c_rule d) ps c K Hp Hc _ _ G) as [E _]. split; auto. cbn [eval_steps add]. apply sum_inside.
    cbn [idle_steps] in G. destruct t' as [| | |[d'|] ?]; try easy. apply andb_prop in G. destruct G as [G _]. exact (idle_range _ _ _ _ G).
Qed.

Hypotheses (G1 : good (format_bounds (start_format d))) (G2 : good (result_bounds o)).

Lemma block_values v b : Forall (made_by d) b -> (length b <= block d)%nat -> c_inside v ->
  block_value (with_sums d how) v b = block_value d v b /\ c_inside (block_value d v b).
Proof.
  intros M L Hv. pose proof (products_inside d tb b T M) as Hp. assert (Lp : (length (block_products d b) <= block d)%nat) by now rewrite block_products_length.
  rewrite <- same_design at 2 3. rewrite !block_value_sums. unfold c_inside.
  assert (Q : exists cb, good cb /\ inside cb (taken_c d v)).
  { rewrite taken_kept by auto. destruct Hv as [Hv|Hv]; eexists; (split; [|apply flush_inside; eauto]); auto. }
  destruct Q as [cb [G Hc]].
  destruct (block_idle cb (whole_factors (with_sums d (sums d)) (ordered d b)) (whole_factors (with_sums d how) (ordered d b)) _ _ G Lp Hp Hc) as [E I]. auto.
Qed.

Lemma values_idle xs v : Forall (made_by d) xs -> c_inside v -> values (with_sums d how) xs v = values d xs v /\ c_inside (values d xs v).
Proof.
  intros F. unfold values. change (block (with_sums d how)) with (block d). pose proof (cut_list_blocks (made_by d) (block d) B (length xs) xs F) as G.
  revert v. induction G as [|b r [Lb Hb] G IH]; intros v Hv; cbn [fold_left]; auto.
  destruct (block_values v b Hb Lb Hv) as [E I]. rewrite E. now apply IH.
Qed.
End Blocks.

(** What is known of the operands of each sum decides: parameters of sums at other values, the same word on all words. *)
Theorem idle_sums d how w : idle_design d how = true -> pairs w <> [] -> compute d w = compute (with_sums d how) w.
Proof.
  unfold idle_design. intros O N. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[On Po] B] Of] K] Sk] Cz] O].
  destruct (cutting_of d) eqn:W; try easy. destruct (zero_terms (factors d)) eqn:Zt; [easy|]. clear Cz. apply negb_true_iff in Sk. apply Z.ltb_lt in B.
  destruct (term_bounds d) as [tb|] eqn:T; [|easy]. destruct (last_out (sums d)) as [o|] eqn:Lo; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[Pos G1] G2]. apply Z.leb_le in Pos.
  rewrite (compute_word d), (compute_word (with_sums d how)) by (try exact On; auto). f_equal.
  assert (V : forall xs v, Forall (made_by d) xs -> c_inside d o v -> values (with_sums d how) xs v = values d xs v /\ c_inside d o (values d xs v)).
  { intros xs v F Hv. apply (values_idle d how tb o Sk W Zt K T Lo Pos ltac:(lia) G1 G2); auto. }
  assert (C : c_inside d o (decode (start_format d) (match composed d with None => c_word w | Some _ => 0 end))).
  { left. now apply decode_inside. }
  unfold value, start_format in *. change (composed (with_sums d how)) with (composed d). change (elements (with_sums d how) w) with (elements d w).
  pose proof (elements_made d w) as F. destruct (composed d) as [comp|] eqn:Co.
  - do 3 f_equal. unfold parts_value. change (d_format (with_sums d how)) with (d_format d).
    revert C. generalize (decode (d_format d) 0) as v. unfold parts_ok in Po. rewrite Co in Po.
    induction (parts comp) as [|k r IH]; intros v C; [reflexivity|]. cbn [fold_left].
    assert (M : Forall (made_by d) (map (at_k (elements d w)) k)).
    { apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [i [<- _]]. apply at_k_made; auto.
      left. destruct (scales d); easy. }
    destruct (V _ _ M C) as [E I]. rewrite E. now apply IH.
  - change (c_format (with_sums d how)) with (c_format d). symmetry. now apply V.
Qed.

(** * The exponent of zeros of sums of groups *)

Lemma largest_zeros d z ts : zero_exponent d = ZeroAt z ->
  largest d ts = largest (with_zero d ZeroNone) ts \/ largest d ts = omax (Some z) (largest (with_zero d ZeroNone) ts).
Proof.
  intros Z. unfold largest. induction ts as [|x ts IH]; cbn [map fold_right]; auto.
  set (a := fold_right omax None (map (term_exponent d) ts)) in *. set (b := fold_right omax None (map (term_exponent (with_zero d ZeroNone)) ts)) in *.
  assert (E : (term_exponent d x = Some z /\ term_exponent (with_zero d ZeroNone) x = None) \/
              exists e, term_exponent d x = Some e /\ term_exponent (with_zero d ZeroNone) x = Some e).
  { unfold term_exponent. cbn [zero_exponent normalise with_zero]. rewrite Z. destruct (is_zero x); eauto. }
  destruct E as [[-> ->]|[e [-> ->]]].
  - right. destruct IH as [-> | ->]; destruct b; cbn [omax]; auto; apply (f_equal Some); lia.
  - destruct IH as [-> | ->]; [left|right]; destruct b; cbn [omax]; auto; apply (f_equal Some); lia.
Qed.

Lemma sum_of_zeros d r u v ts : carry_sane d = true -> forallb is_zero ts = true ->
  sum_at d (Floating r) u ts = sum_at d (Floating r) v ts.
Proof.
  intros C A. unfold sum_at. rewrite !zeros_count by auto. rewrite zsum_zeros.
  assert (H : held d 0 = 0).
  { unfold held. unfold carry_sane in C. destruct (carry_bits d), (fraction_bits d); auto. apply andb_prop in C. destruct C as [C1 C2]. apply Z.leb_le in C1, C2. apply wrap_0. lia. }
  rewrite H. cbn [round_to]. set (s := sign_of _ _ _ _). unfold convert, last_bit. cbn [Z.eqb].
  assert (R : forall e, round_div (rho r) 0 e = 0) by (intros; apply round_div_0). now rewrite !R.
Qed.

Definition idle_groups (low : Z) (d : sum) : bool :=
  negb (normalise d) && carry_sane d && match zero_exponent d with ZeroAt z => z <=? low | _ => false end.

Lemma groups_ok low d e vs : idle_groups low d = true -> (forall x, In (Num x) vs -> is_zero x = false -> low <= exp x) ->
  add_from e (Stage d) vs = add_from e (Stage (with_zero d ZeroNone)) vs.
Proof.
  unfold idle_groups. intros O L. repeat rewrite andb_true_iff in O. destruct O as [[N C] Z]. apply negb_true_iff in N.
  destruct (zero_exponent d) as [| |z] eqn:Ez; try easy. apply Z.leb_le in Z.
  assert (F : forall ts, numbers vs = Some ts -> Forall (above low) ts).
  { intros ts E. apply Forall_forall. intros x Hx Nz. apply L; auto. unfold numbers in E. destruct (forallb is_num vs) eqn:B; [|easy]. injection E as <-.
    apply in_map_iff in Hx. destruct Hx as [v [<- Hv]]. rewrite forallb_forall in B. specialize (B v Hv). now destruct v. }
  destruct e as [e|]; cbn [add_from add].
  - unfold on_numbers. destruct (numbers vs) as [ts|]; auto. specialize (F ts eq_refl). cbn [fraction_bits with_zero stage_rounding out].
    change (sum_at (with_zero d ZeroNone)) with (sum_at d). destruct (fraction_bits d) as [f|]; auto.
    destruct (forallb is_zero ts) eqn:A; [now apply sum_of_zeros|]. f_equal.
    assert (exists y, In y ts /\ is_zero y = false) as [y [Hy Ny]].
    { clear -A. induction ts as [|a r IHr]; cbn in *; [easy|]. destruct (is_zero a) eqn:Q; cbn in *.
      - destruct IHr as [y [? ?]]; auto. exists y; auto.
      - exists a; auto. }
    pose proof (largest_in (with_zero d ZeroNone) ts y Hy) as I. unfold term_exponent in I. cbn [normalise with_zero] in I. rewrite Ny, N in I.
    rewrite Forall_forall in F. specialize (F y Hy Ny).
    destruct (largest_zeros d z ts Ez) as [-> | ->]; auto. destruct (largest (with_zero d ZeroNone) ts) as [m|]; cbn in I |- *; [|easy].
    replace (Z.max z m) with m by lia. reflexivity.
  - unfold sum_values. destruct (numbers vs) as [ts|] eqn:E; auto. apply zero_exponent_irrelevant with low; auto.
    unfold zero_below. rewrite Ez. lia.
Qed.

Lemma group_exponent m f ps a b x : format_ok f = true ->
  fst (group_term m ps [decode f a; decode f b]) = Num x -> 2 * least f <= exp x.
Proof.
  intros O. unfold group_term. set (one := match numbers ps with Some _ => _ | None => _ end). cbn [fold_left].
  assert (H : forall y, one = Num y -> exp y = 0).
  { unfold one. intros y E. destruct (numbers ps); [|exfalso; now apply (special_not_num ps y)]. injection E as <-. reflexivity. }
  match goal with |- fst ?t = _ -> _ => assert (F : fst t = product (product one (decode f a)) (decode f b)) end.
  { destruct one; auto. destruct (product (product (Num x0) (decode f a)) (decode f b)); auto. }
  rewrite F. intros P. apply product_num in P. destruct P as [p [q [P1 [P2 ->]]]]. apply product_num in P1. destruct P1 as [o [r [P3 [P4 ->]]]].
  destruct (decode_num _ _ _ O P4) as [_ [_ [L1 _]]]. destruct (decode_num _ _ _ O P2) as [_ [_ [L2 _]]].
  cbn [times exp]. rewrite (H o P3). lia.
Qed.

Definition group_zero_free (d : design) (s : sum) : bool :=
  match sums d, cutting_of d, scales d with
  | OneSum (Stage _), Groups _, Some (f, _) =>
      format_ok f && one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) && format_ok (start_format d) && kept_or_zero (c_rule d) && negb (skips d) &&
      match zero_terms (factors d) with None => true | _ => false end && range_ok (out s) &&
      idle_groups (Z.min (2 * least f) (Z.min (least (start_format d)) (emin (out s)))) s
  | _, _, _ => false
  end.

(** Sums of groups do not tell an exponent of zeros below those of all scales' products and of c. *)
Theorem group_zero_idle d s w : sums d = OneSum (Stage s) -> group_zero_free d s = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (OneSum (Stage (with_zero s ZeroNone)))) w.
Proof.
  intros S O N. unfold group_zero_free in O. rewrite S in O. destruct (cutting_of d) as [| |size] eqn:W; try easy.
  destruct (scales d) as [[f n]|] eqn:Sc; [|easy]. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[Of On] Po] B] Os] K] Sk] Zt] R] G]. apply negb_true_iff in Sk. apply Z.ltb_lt in B. destruct (zero_terms (factors d)) eqn:Z0; [easy|]. clear Zt.
  unfold parts_ok in Po. rewrite Sc in Po. destruct (composed d) as [how|] eqn:Co; [easy|].
  set (low := Z.min (2 * least f) (Z.min (least (start_format d)) (emin (out s)))) in *. set (d' := with_sums d _).
  rewrite (compute_word d), (compute_word d') by (try exact On; auto). f_equal. unfold value. change (composed d') with (composed d). rewrite Co.
  change (elements d' w) with (elements d w). change (c_format d') with (c_format d).
  set (C := fun v => forall x, v = Num x -> low <= exp x).
  assert (C0 : C (decode (c_format d) (c_word w))).
  { intros x E. assert (Sf : start_format d = c_format d) by (unfold start_format; now rewrite Co). rewrite Sf in Os. destruct (decode_num _ _ _ Os E) as [_ [_ [L _]]]. unfold low. rewrite Sf. lia. }
  unfold values. change (block d') with (block d).
  pose proof (cut_list_blocks (made_by d) (block d) ltac:(lia) (length (elements d w)) (elements d w) (elements_made d w)) as F.
  revert C0. generalize (decode (c_format d) (c_word w)) as v. induction F as [|b r [_ M] F IH]; intros v Hv; [reflexivity|]. cbn [fold_left].
  assert (E : block_value d v b = block_value d' v b).
  { unfold block_value, skipped. change (skips d') with (skips d). rewrite Sk. cbn [andb]. change (terms d' (ordered d' b)) with (match sums d' with _ => terms d' (ordered d b) end).
    assert (T : terms d' (ordered d b) = terms d (ordered d b)).
    { unfold terms. change (cutting_of d') with (cutting_of d). rewrite W. change (sums d') with (OneSum (Stage (with_zero s ZeroNone))). rewrite S. reflexivity. }
    rewrite T. change (sums d') with (OneSum (Stage (with_zero s ZeroNone))). rewrite S. cbn [block_sum]. change (taken_c d' v) with (taken_c d v).
    apply groups_ok with low; auto. intros x Hx Nz. apply in_app_iff in Hx. destruct Hx as [Hx|[Hx|[]]].
    - unfold terms in Hx. rewrite W in Hx. cbn [fst] in Hx. rewrite map_map in Hx. apply in_map_iff in Hx. destruct Hx as [g [Eg Hg]].
      destruct g as [|y g].
      + exfalso. cbn in Eg. injection Eg as <-. easy.
      + assert (My : made_by d y).
        { assert (Fo : Forall (made_by d) (ordered d b)).
          { apply Forall_forall. intros u Hu. rewrite Forall_forall in M. apply M. unfold ordered in Hu. destruct (odd_first d); auto. now apply swapped_incl. }
          pose proof (cut_list_Forall (made_by d) size (length (ordered d b)) _ Fo) as Fc. rewrite Forall_forall in Fc. specialize (Fc _ Hg). now inversion Fc. }
        unfold made_by in My. rewrite Sc in My. destruct My as [a [c My]]. rewrite My in Eg. apply group_exponent in Eg; auto. unfold low. lia.
    - rewrite taken_kept in Hx by auto. assert (I : low <= exp x); auto. unfold flush in Hx. destruct v as [y| |]; try easy.
      specialize (Hv y eq_refl). destruct (negb (is_subnormal y)); [injection Hx as <-; lia|]. destruct (c_rule d); try easy; injection Hx as <-; cbn; lia. }
  rewrite <- E. apply IH. intros x Ex. rewrite E in Ex. unfold block_value, skipped in Ex. change (skips d') with (skips d) in Ex. rewrite Sk in Ex. cbn [andb] in Ex.
  change (sums d') with (OneSum (Stage (with_zero s ZeroNone))) in Ex. cbn [block_sum] in Ex.
  assert (Q : exists s0 n0 u0, convert (out s) s0 n0 u0 = Num x).
  { destruct (snd (terms d' (ordered d' b))) as [e|]; cbn [add_from add] in Ex.
    - unfold on_numbers in Ex. destruct (numbers _); [|exfalso; now apply (special_not_num _ x) in Ex]. unfold sum_at in Ex. cbn in Ex. eauto.
    - unfold sum_values in Ex. destruct (numbers _); [|exfalso; now apply (special_not_num _ x) in Ex]. unfold sum_numbers in Ex. cbn in Ex. eauto. }
  destruct Q as [s0 [n0 [u0 Q]]]. unfold range_ok in R. apply andb_prop in R. destruct R as [P EM]. apply Z.leb_le in P, EM.
  pose proof (convert_exp_min _ _ _ _ _ Q P). unfold low. lia.
Qed.
