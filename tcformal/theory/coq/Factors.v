(** Factors that are first converted to another format, or normalised, before they are multiplied: where all that is cut off lies
    beside products whose factors have a leading 1 anyway, no input tells. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Words Values Irrelevant AtOnce Mirror Axes Zeros Large Operands Odd Stages.
Import ListNotations.
Open Scope Z_scope.

(** * The same value, and the same exponent, or two that are no larger than [o] *)

Definition moved (o : option Z) (t : Z) (x y : num) : Prop :=
  alike x y /\ (exp x = exp y \/ match o with Some lo => exp x <= lo /\ exp y <= lo | None => False end) /\ exp x <= t /\ exp y <= t.

Definition moved_val (o : option Z) (t : Z) (v w : val) : Prop :=
  match v, w with Num x, Num y => moved o t x y | Inf s, Inf s' => s = s' | NaN, NaN => True | _, _ => False end.

Lemma moved_refl o t v : (forall x, v = Num x -> exp x <= t) -> moved_val o t v v.
Proof. intros H. destruct v as [x| |]; cbn; auto. specialize (H x eq_refl). repeat split; auto. Qed.

Definition moved_times (a b : option Z) (ta tb : Z) : option Z :=
  match a, b with Some x, Some y => Some (Z.max (x + tb) (ta + y)) | Some x, None => Some (x + tb) | None, Some y => Some (ta + y) | None, None => None end.

Lemma moved_product a b ta tb v v' w w' : moved_val a ta v v' -> moved_val b tb w w' -> moved_val (moved_times a b ta tb) (ta + tb) (product v w) (product v' w').
Proof.
  intros H K. destruct v as [x|s|], v' as [x'|s'|]; try easy; destruct w as [y|q|], w' as [y'|q'|]; try easy; cbn in *; subst; auto.
  - destruct H as [[N1 V1] [E1 [T1 T1']]], K as [[N2 V2] [E2 [T2 T2']]]. split; [|split].
    + split; [cbn; congruence|now rewrite !V_times, V1, V2].
    + unfold times. cbn [exp]. destruct a, b; cbn; lia.
    + unfold times. cbn [exp]. lia.
  - destruct H as [A _]. rewrite (alike_zero _ _ A). destruct A as [-> _]. destruct (is_zero x'); reflexivity.
  - destruct K as [A _]. rewrite (alike_zero _ _ A). destruct A as [-> _]. destruct (is_zero y'); reflexivity.
Qed.

Lemma moved_negate o t v w : moved_val o t v w -> moved_val o t (negate v) (negate w).
Proof.
  destruct v as [x| |], w as [y| |]; try easy; cbn; [|congruence]. intros [[N W] [E T]]. split; [split|split]; auto; [cbn; congruence|].
  unfold V, lsb, signed in *. cbn [neg sig exp frac]. rewrite N in *. destruct (neg y); cbn [negb] in *; rewrite ?opp_IZR in *; lra.
Qed.

Lemma alike_own x y : alike x y -> is_zero x = false -> own_exponent x = own_exponent y.
Proof.
  intros [N W] Zx. assert (A : forall z, is_zero z = false -> (mag radix2 (V z) : Z) = own_exponent z + 1).
  { intros z Q. unfold is_zero in Q. apply Z.eqb_neq in Q. unfold V. rewrite log2_mag by (unfold signed; destruct (neg z); lia).
    unfold own_exponent, lsb. replace (Z.abs (signed z)) with (Z.abs (sig z)) by (unfold signed; destruct (neg z); lia). lia. }
  assert (Zy : is_zero y = false) by (rewrite <- (alike_zero x y); auto; now split). pose proof (A x Zx) as B. pose proof (A y Zy) as B'. rewrite W in B. lia.
Qed.

(** * Factors *)

Definition least_le (f : format) (g : option format) : bool := match g with None => true | Some g => least g <=? least f end.
Definition same_least (f : format) (g : option format) : bool := match g with None => true | Some g => least g =? least f end.
Definition factor_moved (f : format) (g : option format) (normal : bool) : option Z := if same_least f g && negb normal then None else Some (least f).

Lemma decode_low f w z : format_ok f = true -> decode f w = Num z -> low_sig z = true -> exp z = least f.
Proof.
  intros O D L. pose proof (decode_under f w z O D) as U. unfold under in U. rewrite L in U. cbn in U. destruct (decode_num _ _ _ O D) as [_ [_ [A _]]]. lia.
Qed.

Lemma factor_moves q r f g w : format_ok f = true -> least_le f g = true -> (same_least f g = true \/ r = Kept) -> kept_or_zero r = true ->
  moved_val (factor_moved f g (normalise_factors q)) (format_top f)
    (factor q r (match g with Some g => on_num (in_format g) (decode f w) | None => decode f w end)) (flush r (decode f w)).
Proof.
  intros O Le Sr K. pose proof O as O'. unfold format_ok in O'. apply andb_prop in O'. destruct O' as [Fb _]. apply Z.leb_le in Fb.
  set (v := match g with Some g => _ | None => _ end).
  assert (A : moved_val (factor_moved f g false) (format_top f) (flush r v) (flush r (decode f w)) /\
              (forall x, flush r v = Num x -> low_sig x = true -> exp x <= least f) /\ (forall x, flush r v = Num x -> 0 <= sig x)).
  { destruct (decode f w) as [z|s|] eqn:D.
    2, 3: unfold v; destruct g; cbn; (split; [auto|split; easy]).
    destruct (decode_num _ _ _ O D) as [[S1 S2] [F [L B]]]. pose proof (decode_top _ _ _ O D) as T. pose proof (decode_low _ _ _ O D) as Lo.
    assert (Id : forall y, y = z -> moved_val (factor_moved f g false) (format_top f) (flush r (Num y)) (flush r (Num z)) /\
              (forall x, flush r (Num y) = Num x -> low_sig x = true -> exp x <= least f) /\ (forall x, flush r (Num y) = Num x -> 0 <= sig x)).
    { intros y ->. split; [apply moved_refl; intros x E|split; intros x E].
      - unfold flush in E. destruct (negb (is_subnormal z)); [injection E as <-; exact T|]. destruct r; try easy; injection E as <-; exact T.
      - unfold flush in E. destruct (is_subnormal z) eqn:Q; cbn [negb] in E.
        + specialize (Lo (subnormal_low z Q)). destruct r; try easy; injection E as <-; intros _; cbn; lia.
        + injection E as <-. intros Q'. rewrite (Lo Q'). lia.
      - unfold flush in E. destruct (negb (is_subnormal z)); [injection E as <-; exact S1|]. destruct r; try easy; injection E as <-; cbn; lia. }
    unfold v. destruct g as [g|]; [|now apply Id]. cbn [on_num].
    assert (Lg : least_exponent g = least g) by (unfold least_exponent, least; destruct (has_zero g); lia).
    unfold least_le in Le. apply Z.leb_le in Le.
    assert (Ow : is_zero z = false -> own_exponent z <= exp z /\ (low_sig z = false -> own_exponent z = exp z)).
    { intros Z. unfold is_zero in Z. pose proof Z as Z'. apply Z.eqb_neq in Z'. destruct (Z.log2_spec (sig z)) as [L1 L2]; [lia|]. unfold own_exponent, lsb. rewrite (Z.abs_eq (sig z)), F by lia.
      assert (Z.log2 (sig z) < fbits f + 1) by (apply Z.log2_lt_pow2; lia). split; [lia|]. unfold low_sig, is_zero. rewrite Z, F. cbn [orb]. intros Q. apply Z.ltb_ge in Q.
      assert (fbits f < Z.succ (Z.log2 (sig z))) by (pose proof (Z.log2_nonneg (sig z)); apply (Z.pow_lt_mono_r_iff 2); lia). lia. }
    set (e := if is_zero z then least_exponent g else Z.max (own_exponent z) (least_exponent g)).
    assert (Ee : in_format g z = at_exponent e z) by reflexivity.
    assert (E1 : low_sig z = false -> e = exp z).
    { intros Q. unfold e. pose proof Q as Q'. unfold low_sig in Q'. apply orb_false_elim in Q'. destruct Q' as [Q' _]. rewrite Q', Lg. destruct (Ow Q') as [_ Q2]. rewrite (Q2 Q). lia. }
    assert (E2 : e <= exp z) by (unfold e; rewrite Lg; destruct (is_zero z) eqn:Q; [lia|destruct (Ow eq_refl); lia]).
    assert (E3 : least g = least f -> e = exp z).
    { intros Q. destruct (low_sig z) eqn:Lz; [|auto]. specialize (Lo eq_refl). unfold e. rewrite Lg. destruct (is_zero z) eqn:Z; [lia|]. destruct (Ow eq_refl). lia. }
    destruct (Z.eq_dec e (exp z)) as [Eq|Ne].
    { apply Id. rewrite Ee, Eq. unfold at_exponent. destruct z; cbn. f_equal. lia. }
    assert (Kp : r = Kept). { destruct Sr as [Sr|Sr]; auto. unfold same_least in Sr. apply Z.eqb_eq in Sr. exfalso. auto. } subst r.
    assert (Fk : forall y, flush Kept (Num y) = Num y) by (intros y; unfold flush; now destruct (negb (is_subnormal y))). rewrite !Fk.
    assert (Lz : low_sig z = true) by (destruct (low_sig z); auto; exfalso; auto). specialize (Lo Lz).
    split; [|split; intros x X; injection X as <-; [intros _; rewrite Ee; cbn; lia|rewrite Ee; exact S1]].
    cbn. split; [split; [now rewrite Ee|rewrite Ee; unfold V, lsb, signed, at_exponent; cbn; replace (e - (frac z + (e - exp z))) with (exp z - frac z) by lia; reflexivity]|].
    unfold factor_moved, same_least. assert (Nl : least g =? least f = false) by (apply Z.eqb_neq; auto). rewrite Nl. cbn [andb]. rewrite Ee. cbn [exp at_exponent]. lia. }
  destruct A as [A [Lo Sg]]. unfold factor. destruct (normalise_factors q) eqn:Nf; [|exact A].
  destruct (flush r v) as [x| |], (flush r (decode f w)) as [y| |]; try easy. cbn [on_num moved_val] in *. specialize (Lo x eq_refl). specialize (Sg x eq_refl).
  unfold factor_moved in *. rewrite andb_false_r. destruct A as [Al [Ex [Tx Ty]]]. unfold normalised. destruct (is_subnormal x) eqn:Q.
  - specialize (Lo (subnormal_low x Q)). unfold is_subnormal in Q. apply andb_prop in Q. destruct Q as [_ Q]. apply Z.ltb_lt in Q. destruct Al as [N W].
    split; [split; [exact N|]|cbn [exp]; destruct (same_least f g && negb false); lia].
    rewrite <- W. unfold V, lsb, signed. cbn [neg sig exp frac]. set (k := frac x - Z.log2 (sig x)) in *.
    replace (if neg x then - (sig x * 2 ^ k) else sig x * 2 ^ k) with ((if neg x then - sig x else sig x) * 2 ^ k) by (destruct (neg x); lia).
    rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
  - split; [exact Al|]. destruct (same_least f g && negb false); [destruct Ex; [lia|easy]|lia].
Qed.

(** * Products *)

Definition plain_factors (d : design) : design :=
  let q := factors d in
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d; converted := None;
     factors := {| of_a := of_a q; of_b := of_b q; normalise_factors := false; exponent_step := exponent_step q; zero_terms := zero_terms q;
                   odd_negated := odd_negated q; even_negated := even_negated q; product_limit := product_limit q; product_rounding := product_rounding q |};
     cutting_of := cutting_of d; block := block d; odd_first := odd_first d; skips := skips d; c_rule := c_rule d; sums := sums d;
     nan_word := nan_word d; nans := nans d; composed := composed d |}.

Definition factor_free (d : design) (f : format) (r : flush_rule) : bool :=
  format_ok f && least_le f (converted d) && (same_least f (converted d) || match r with Kept => true | _ => false end) && kept_or_zero r.

Definition product_moved (d : design) : option Z :=
  let one f := factor_moved f (converted d) (normalise_factors (factors d)) in
  let t f := format_top f in
  let o := moved_times (one (a_format d)) (one (b_format d)) (t (a_format d)) (t (b_format d)) in
  match scales d with None => o | Some (f, _) => match o with None => None | Some x => Some (x + t f + t f) end end.

Definition products_free (d : design) : bool :=
  let q := factors d in
  factor_free d (a_format d) (of_a q) && factor_free d (b_format d) (of_b q) && (exponent_step q =? 1) &&
  match zero_terms q, product_rounding q with None, None => true | _, _ => false end && match scales d with Some (f, _) => format_ok f | None => true end.

Lemma product_moves d x : products_free d = true -> made_by d x -> exists t, moved_val (product_moved d) t
  (scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x))
  (scaled_product (factors (plain_factors d)) (a_of (plain_factors d) x) (b_of (plain_factors d) x) (index x) (scaled_by x)).
Proof.
  unfold products_free. intros O M. repeat rewrite andb_true_iff in O. destruct O as [[[[Oa Ob] St] Zp] Sc]. set (q := factors d) in *.
  destruct (zero_terms q) eqn:Zt; [easy|]. destruct (product_rounding q) eqn:Pr; [easy|].
  assert (Fa : forall f r w, factor_free d f r = true -> moved_val (factor_moved f (converted d) (normalise_factors q)) (format_top f)
    (factor q r (operand d f w)) (factor (factors (plain_factors d)) r (operand (plain_factors d) f w))).
  { intros f r w F. unfold factor_free in F. repeat rewrite andb_true_iff in F. destruct F as [[[F1 F2] F3] F4]. unfold operand. cbn [factors plain_factors exponent_step converted]. fold q. rewrite St.
    unfold factor at 2. cbn [normalise_factors]. apply factor_moves; auto. apply orb_prop in F3. destruct F3 as [F3|F3]; [now left|right; now destruct r]. }
  pose proof (moved_product _ _ _ _ _ _ _ _ (Fa _ _ (a_word x) Oa) (Fa _ _ (b_word x) Ob)) as P. fold (a_of d x) in P. fold (b_of d x) in P.
  change (factor (factors (plain_factors d)) (of_a q) (operand (plain_factors d) (a_format d) (a_word x))) with (a_of (plain_factors d) x) in P.
  change (factor (factors (plain_factors d)) (of_b q) (operand (plain_factors d) (b_format d) (b_word x))) with (b_of (plain_factors d) x) in P.
  set (o := moved_times _ _ _ _) in P. set (t := format_top (a_format d) + format_top (b_format d)) in P.
  set (v := product (a_of d x) (b_of d x)) in *. set (v' := product (a_of (plain_factors d) x) (b_of (plain_factors d) x)) in *.
  assert (N : moved_val o t (if subtracted q (index x) then negate v else v) (if subtracted q (index x) then negate v' else v')) by (destruct (subtracted _ _); auto using moved_negate).
  assert (S : exists t, moved_val (product_moved d) t (fold_left product (scaled_by x) (if subtracted q (index x) then negate v else v))
                                                     (fold_left product (scaled_by x) (if subtracted q (index x) then negate v' else v'))).
  { unfold product_moved. fold q o. unfold made_by in M. destruct (scales d) as [[f n]|].
    - destruct M as [a [c ->]]. cbn [fold_left]. exists (t + format_top f + format_top f).
      assert (R : forall w, moved_val None (format_top f) (decode f w) (decode f w)) by (intros w; apply moved_refl; intros y E; now apply decode_top with w).
      pose proof (moved_product _ _ _ _ _ _ _ _ (moved_product _ _ _ _ _ _ _ _ N (R a)) (R c)) as Q. unfold moved_times in Q. now destruct o.
    - rewrite M. now exists t. }
  destruct S as [t' S]. exists t'. unfold scaled_product. fold q. cbn [factors plain_factors zero_terms product_limit product_rounding]. fold q. rewrite Zt, Pr, !zero_as_none.
  change (subtracted _ (index x)) with (subtracted q (index x)) at 2.
  fold v v'. cbv zeta. destruct (fold_left product (scaled_by x) _) as [y| |] eqn:E1 in S |- *; destruct (fold_left product (scaled_by x) _) as [y'| |] eqn:E2 in S |- *; try easy.
  cbn [moved_val] in S. destruct S as [A S]. assert (L : match product_limit q with Some l => negb (is_zero y) && (l <=? own_exponent y) | None => false end =
    match product_limit q with Some l => negb (is_zero y') && (l <=? own_exponent y') | None => false end).
  { destruct (product_limit q); auto. rewrite <- (alike_zero y y' A). destruct (is_zero y) eqn:Zy; auto. now rewrite (alike_own y y' A Zy). }
  rewrite L. match goal with |- moved_val _ _ (if ?b then _ else _) _ => destruct b end; [cbn; apply A|split; auto].
Qed.

(** * Sums *)

Definition moves (o : option Z) (v w : val) : Prop := exists t, moved_val o t v w.

Lemma moves_refl o v : moves o v v.
Proof. exists (match v with Num x => exp x | _ => 0 end). apply moved_refl. intros x ->. lia. Qed.

(** Whether nothing is cut off beside numbers of such exponents, where all operands are multiples of [2^g]. *)
Definition near_ok (o : option Z) (g : Z) (s : sum) : bool :=
  match fraction_bits s with
  | None => true
  | Some f => zero_none s && none (carry_bits s) && negb (normalise s) && match o with None => true | Some lo => lo - f <=? g end
  end.

Lemma moves_sum o g s vs ws : near_ok o g s = true -> Forall2 (moves o) vs ws -> (forall x, In (Num x) vs -> multiple g x) ->
  (forall x, In (Num x) ws -> multiple g x) -> sum_values s ws = sum_values s vs.
Proof.
  intros O H Mv Mw.
  assert (Q : forall q : val -> bool, (forall v w, moves o v w -> q v = q w) -> existsb q ws = existsb q vs /\ forallb q ws = forallb q vs).
  { intros q Hq. clear -H Hq. induction H as [|v w vs ws A H [I J]]; [auto|]. cbn. now rewrite I, J, (Hq v w A). }
  assert (Sp : special_sum ws = special_sum vs).
  { unfold special_sum. repeat match goal with |- context [existsb ?q ws] => rewrite (proj1 (Q q ltac:(intros [|[]|] [|[]|] [t T]; cbn in T; try easy))) end. reflexivity. }
  unfold sum_values, numbers. rewrite (proj2 (Q is_num ltac:(intros [] [] [t T]; easy))). destruct (forallb is_num vs) eqn:N; [|exact Sp].
  assert (F : Forall2 (fun x y => exists t, moved o t x y) (map num_of vs) (map num_of ws)).
  { clear -H N. induction H as [|v w vs ws [t T] H IH]; [constructor|]. cbn [forallb map] in *. apply andb_prop in N. destruct N as [N1 N2].
    destruct v, w; try easy. constructor; [now exists t|auto]. }
  assert (In1 : forall l, forallb is_num l = true -> forall x, In x (map num_of l) -> In (Num x) l).
  { intros l A x Hx. apply in_map_iff in Hx. destruct Hx as [v [<- Hv]]. rewrite forallb_forall in A. specialize (A v Hv). now destruct v. }
  assert (Nw : forallb is_num ws = true) by (rewrite (proj2 (Q is_num ltac:(intros [] [] [t T]; easy))); exact N).
  unfold near_ok in O. destruct (fraction_bits s) as [f|] eqn:Fb.
  - repeat rewrite andb_true_iff in O. destruct O as [[[Z K] Nm] G]. apply negb_true_iff in Nm.
    symmetry. apply near_sum with f (match o with Some lo => lo | None => g + f end) g; auto.
    + unfold zero_none in Z. now destruct (zero_exponent s).
    + unfold none in K. now destruct (carry_bits s).
    + destruct o; [now apply Z.leb_le in G|lia].
    + apply Forall_forall. intros x Hx. apply Mv. now apply In1.
    + apply Forall_forall. intros x Hx. apply Mw. now apply In1.
    + clear -F. induction F as [|x y ts us [t [A [E _]]] F IH]; constructor; auto. split; auto. destruct o; [exact E|destruct E; [now left|easy]].
  - symmetry. apply exact_alike; auto. clear -F. induction F as [|x y ts us [t [A _]] F IH]; constructor; auto.
Qed.

Lemma inside_multiple bs vs x : Forall2 inside bs vs -> In (Num x) vs -> multiple (least_of grid bs) x.
Proof.
  intros H I. assert (G : exists b, In b bs /\ multiple (grid b) x).
  { clear -H I. induction H as [|b v bs vs A H IH]; [easy|]. destruct I as [->|I]; [exists b; split; [now left|now apply A]|]. destruct (IH I) as [c [Hc M]]. exists c. split; [now right|exact M]. }
  destruct G as [b [Hb M]]. apply multiple_le with (grid b); auto. now apply least_of_le.
Qed.

Definition product_step (x : steps) : bool := match x with Product _ => true | _ => false end.

Fixpoint near_steps (o : option Z) (tb tb' cb : bounds) (t : steps) {struct t} : bool :=
  match t with
  | Step (Stage d) l => range_ok (out d) &&
      (negb (existsb product_step l) || near_ok o (Z.min (least_of grid (map (operand_bounds tb cb d) l)) (least_of grid (map (operand_bounds tb' cb d) l))) d) &&
      forallb (near_steps o tb tb' cb) l
  | Step _ _ => false
  | _ => true
  end.

Section Steps.
Variables (o : option Z) (tb tb' cb : bounds) (r : flush_rule) (ps qs : list val) (c : val).
Hypothesis (K : kept_or_zero r = true) (Hp : Forall (inside tb) ps) (Hq : Forall (inside tb') qs) (Hc : inside cb c) (M : Forall2 (moves o) ps qs).

Lemma nth_moves k : moves o (nth k ps NaN) (nth k qs NaN).
Proof. clear Hp Hq. revert k. induction M as [|v w vs ws A H IH]; intros [|k]; cbn; auto using moves_refl. Qed.

Lemma steps_move t : near_steps o tb tb' cb t = true ->
  match t with
  | Step (Stage d) l => eval_steps r qs c t = eval_steps r ps c t /\
      inside (sum_result (map (operand_bounds tb cb d) l) d) (eval_steps r ps c t) /\ inside (sum_result (map (operand_bounds tb' cb d) l) d) (eval_steps r ps c t)
  | _ => True
  end.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; intros O; auto. destruct s as [d|d x]; [|easy]. cbn [near_steps] in O. repeat rewrite andb_true_iff in O. destruct O as [[R Nk] Ch].
  cbn [eval_steps add].
  set (f := fun x => let v := eval_steps r ps c x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding (Stage d)) | _ => v end).
  set (f' := fun x => let v := eval_steps r qs c x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding (Stage d)) | _ => v end).
  assert (A : forall x, In x l -> moves o (f x) (f' x) /\ (product_step x = false -> f' x = f x) /\ inside (operand_bounds tb cb d x) (f x) /\ inside (operand_bounds tb' cb d x) (f' x)).
  { intros x Hx. rewrite forallb_forall in Ch. rewrite Forall_forall in IH. specialize (IH x Hx (Ch x Hx)). specialize (Ch x Hx). unfold f, f'. cbv zeta.
    destruct x as [k| | |[e|] m]; cbn [product_step operand_bounds eval_steps].
    - split; [apply nth_moves|split; [easy|split; [now apply product_inside|now apply product_inside]]].
    - split; [apply moves_refl|auto].
    - split; [apply moves_refl|split; [auto|split; now apply zero_inside]].
    - cbn [eval_steps] in IH. destruct IH as [E [I1 I2]]. rewrite E. split; [apply moves_refl|split; [auto|split; now apply flush_inside]].
    - easy. }
  assert (I1 : Forall2 inside (map (operand_bounds tb cb d) l) (map f l)).
  { clear -A. induction l as [|x l IHl]; cbn [map]; constructor; [apply A; now left|apply IHl; intros y Hy; apply A; now right]. }
  assert (I2 : Forall2 inside (map (operand_bounds tb' cb d) l) (map f' l)).
  { clear -A. induction l as [|x l IHl]; cbn [map]; constructor; [apply A; now left|apply IHl; intros y Hy; apply A; now right]. }
  assert (E : sum_values d (map f' l) = sum_values d (map f l)).
  { apply orb_prop in Nk. destruct Nk as [Nk|Nk].
    - f_equal. apply map_ext_in. intros x Hx. apply A; auto. apply negb_true_iff in Nk. apply not_true_is_false. intros Q.
      assert (existsb product_step l = true) by (apply existsb_exists; now exists x). congruence.
    - eapply moves_sum; [exact Nk| | |].
      + clear -A. induction l as [|x l IHl]; cbn [map]; constructor; [apply A; now left|apply IHl; intros y Hy; apply A; now right].
      + intros x Hx. apply multiple_le with (least_of grid (map (operand_bounds tb cb d) l)); [lia|]. now apply inside_multiple with (map f l).
      + intros x Hx. apply multiple_le with (least_of grid (map (operand_bounds tb' cb d) l)); [lia|]. now apply inside_multiple with (map f' l). }
  split; [exact E|]. split; [apply sum_result_inside; [exact R|now apply covered_all]|]. rewrite <- E. apply sum_result_inside; [exact R|now apply covered_all].
Qed.
End Steps.

(** * Designs *)

Definition near_summation (o : option Z) (tb tb' cb : bounds) (how : summation) : bool :=
  match how with
  | OneSum (Stage s) => range_ok (out s) && near_ok o (Z.min (Z.min (grid tb) (grid tb')) (grid cb)) s
  | CLast Together (Stage s) (Stage e) => range_ok (out e) && near_ok o (Z.min (grid tb) (grid tb')) s
  | InSteps (Step s l) => near_steps o tb tb' cb (Step s l)
  | _ => false
  end.

Definition factors_free (d : design) : bool :=
  one_nan d && match composed d with None => true | _ => false end && (0 <? Z.of_nat (block d)) && format_ok (c_format d) && kept_or_zero (c_rule d) && negb (skips d) &&
  match cutting_of d with Whole => true | _ => false end && products_free d &&
  match term_bounds d, term_bounds (plain_factors d), last_out (sums d) with
  | Some tb, Some tb', Some c => near_summation (product_moved d) tb tb' (format_bounds (c_format d)) (sums d) && near_summation (product_moved d) tb tb' (result_bounds c) (sums d)
  | _, _, _ => false
  end.

(** Factors may as well be taken as they are: neither converted nor normalised. *)
Theorem factors_idle d w : factors_free d = true -> pairs w <> [] -> compute d w = compute (plain_factors d) w.
Proof.
  unfold factors_free. intros O N. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[On Co] B] Oc] Kc] Sk] W] P] O].
  destruct (composed d) eqn:Cm; [discriminate Co|]. destruct (cutting_of d) eqn:Cu; try discriminate W. clear Co W. apply negb_true_iff in Sk.
  destruct (term_bounds d) as [tb|] eqn:T; [|discriminate O]. destruct (term_bounds (plain_factors d)) as [tb'|] eqn:T'; [|discriminate O]. destruct (last_out (sums d)) as [c|] eqn:Lo; [|discriminate O].
  apply andb_prop in O. destruct O as [G1 G2]. set (d' := plain_factors d) in *.
  assert (Zt : zero_terms (factors d) = None) by (unfold products_free in P; repeat rewrite andb_true_iff in P; destruct (zero_terms (factors d)); [destruct P as [[_ P] _]; discriminate P|reflexivity]).
  set (C := fun v => exists cb, near_summation (product_moved d) tb tb' cb (sums d) = true /\ inside cb v).
  symmetry. apply (compute_alike d d' C); auto.
  - repeat split.
  - lia.
  - intros b v _ Mb [cb [G Iv]].
    assert (Ps : Forall2 (moves (product_moved d)) (block_products d b) (block_products d' b)).
    { unfold block_products. change (ordered d' b) with (ordered d b). assert (Mo : Forall (made_by d) (ordered d b)).
      { apply Forall_forall. intros u Hu. rewrite Forall_forall in Mb. apply Mb. unfold ordered in Hu. destruct (odd_first d); auto. now apply swapped_incl. }
      induction Mo as [|x l Mx Mo IH]; cbn [map]; constructor; auto. now apply product_moves. }
    pose proof (products_inside d tb b T Mb) as Hp. pose proof (products_inside d' tb' b T' Mb) as Hq.
    assert (Ic : inside cb (taken_c d v)) by (rewrite taken_kept by auto; now apply flush_inside).
    assert (Bv : forall e, e = d \/ e = d' -> block_value e v b = block_sum (sums d) (c_rule d) None (whole_factors e (ordered d b)) (block_products e b) (taken_c d v)).
    { intros e E. unfold block_value, skipped, terms. destruct E as [-> | ->]; cbn [skips cutting_of d' plain_factors sums c_rule]; now rewrite Sk, Cu. }
    rewrite !Bv by auto. generalize (whole_factors d (ordered d b)) as fs, (whole_factors d' (ordered d b)) as fs'. intros fs fs'.
    assert (E : block_sum (sums d) (c_rule d) None fs' (block_products d' b) (taken_c d v) = block_sum (sums d) (c_rule d) None fs (block_products d b) (taken_c d v) /\
                inside (result_bounds c) (block_sum (sums d) (c_rule d) None fs (block_products d b) (taken_c d v))).
    { unfold near_summation in G. destruct (sums d) as [[s|]| | | | | | |[| | | |] [s|] [e|]|[| | |[s|] l]] eqn:S; try discriminate G; cbn [last_out] in Lo; injection Lo as <-; cbn [block_sum inner_sum add_from add].
      - apply andb_prop in G. destruct G as [R G]. split; [|now apply sum_inside].
        eapply moves_sum; [exact G|apply Forall2_app; [exact Ps|repeat constructor; apply moves_refl]| |].
        + intros x Hx. apply in_app_iff in Hx. destruct Hx as [Hx|[Hx|[]]].
          * rewrite Forall_forall in Hp. destruct (Hp _ Hx x eq_refl) as [_ [_ [Mx _]]]. apply multiple_le with (grid tb); auto. lia.
          * destruct (Ic x Hx) as [_ [_ [Mx _]]]. apply multiple_le with (grid cb); auto. lia.
        + intros x Hx. apply in_app_iff in Hx. destruct Hx as [Hx|[Hx|[]]].
          * rewrite Forall_forall in Hq. destruct (Hq _ Hx x eq_refl) as [_ [_ [Mx _]]]. apply multiple_le with (grid tb'); auto. lia.
          * destruct (Ic x Hx) as [_ [_ [Mx _]]]. apply multiple_le with (grid cb); auto. lia.
      - apply andb_prop in G. destruct G as [R G]. split; [|now apply sum_inside]. do 2 f_equal. eapply moves_sum; [exact G|exact Ps| |]; intros x Hx.
        + rewrite Forall_forall in Hp. destruct (Hp _ Hx x eq_refl) as [_ [_ [Mx _]]]. apply multiple_le with (grid tb); auto. lia.
        + rewrite Forall_forall in Hq. destruct (Hq _ Hx x eq_refl) as [_ [_ [Mx _]]]. apply multiple_le with (grid tb'); auto. lia.
      - pose proof (steps_move _ _ _ _ _ _ _ _ Kc Hp Hq Ic Ps _ G) as [E _]. split; [exact E|]. cbn [eval_steps add]. apply sum_inside.
        cbn [near_steps] in G. repeat rewrite andb_true_iff in G. apply G. }
    destruct E as [E I]. rewrite E. split; [reflexivity|]. exists (result_bounds c). auto.
  - unfold parts_ok. now rewrite Cm.
  - exists (format_bounds (c_format d)). split; [exact G1|]. unfold start_format. rewrite Cm. now apply decode_inside.
Qed.
