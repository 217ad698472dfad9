(** One fused sum in a circuit: the claims about its cut points that make it compute [Spec.sum_values]. *)
From Coq Require Import ZArith List Bool Lia Psatz Permutation.
From TC Require Import Spec Theorems Rounded Bv Circuit Finish.
Import ListNotations.
Open Scope Z_scope.

(** * The plan of a fused sum *)

(** A term: its number, the node that is 1 where it is zero, the shift, the aligned magnitude and the largest value of
    that; [span]: the largest code of a finite number. *)
Record addend := Addend { of : number; zero_node : positive; shift : positive; aligned : positive; largest_aligned : Z; span : Z }.

(** The order in which signed terms are added: nodes in two's complement. *)
Inductive sum_tree := Leaf (node : positive) (place : nat) | Partial (node : positive) (l r : sum_tree).

(** The comparisons that find the largest exponent: nodes of codes; of one term its place and the range of its code. *)
Inductive top_tree := Only (node : positive) (place : nat) (least most : Z) | Larger (node : positive) (l r : top_tree).

Record front := Front {
  addends : list addend;
  tops : top_tree; tops_low : Z;                 (** exponents are codes and this *)
  top : positive; top_low : Z; top_span : Z;     (** the largest exponent *)
  partials : sum_tree;
  total_node : positive                          (** in two's complement *)
}.
(** A sum that is rounded. *)
Record fused := Fused { front_of :> front; closing : ending }.

(** A number's magnitude [kept] at another exponent, [distance] above its own, so that the signed number is rounded down. *)
Definition signed_term (s : positive) (t : term) : term := If (Is s) (Minus (Num_ 0) t) t.
Definition floor_formula (m : widths) (f : Z) (r : number) (distance kept : positive) : formula :=
  let up := Z.max 0 (f - bits_below r) in
  let z := Low (U distance) (Num_ (width_in m (significand r) + up)) in
  let scaled t := Times (Shift t z) (Num_ (2 ^ Z.max 0 (bits_below r - f))) in
  let size := Times (signed_term (sign r) (U (significand r))) (Num_ (2 ^ up)) in
  let t := signed_term (sign r) (U kept) in
  Both (AtMost (scaled t) size) (Less size (scaled (Plus t (Num_ 1)))).

Section Claims.
(** [ctx]: what is known of a term that is a number. *)
Variables (m : widths) (ctx : number -> list formula) (d : sum) (f : Z) (x : front).
Let c := out d.

Definition absent : addend := Addend (Number 1 1 1 0 0 1 1) 1 1 1 0 0.
Definition in_span (a : addend) : formula := AtMost (U (code (of a))) (Num_ (span a)).
Definition spans : list formula := map in_span (addends x).
Definition top_term : term := Plus (U (top x)) (Num_ (top_low x)).

(** The exponent with which a term takes part in the largest one, where it does. *)
Definition takes_part (a : addend) : formula := match zero_exponent d with ZeroNone => Negation (Is (zero_node a)) | _ => Always end.
Definition part (a : addend) : term :=
  match zero_exponent d with ZeroAt e => If (Is (zero_node a)) (Num_ e) (exponent (of a)) | _ => exponent (of a) end.

(** Terms: codes in their span, zero flags. *)
Definition term_claims (a : addend) : list claim :=
  [Claim (finite (of a) :: ctx (of a)) (in_span a);
   Claim (finite (of a) :: ctx (of a)) (Iff (Is (zero_node a)) (Equal (U (significand (of a))) (Num_ 0)))].

(** The largest exponent: each comparison by itself. *)
Definition top_node (t : top_tree) : positive := match t with Only n _ _ _ | Larger n _ _ => n end.
Fixpoint top_least (t : top_tree) : Z := match t with Only _ _ a _ => a | Larger _ l r => Z.max (top_least l) (top_least r) end.
Fixpoint top_most (t : top_tree) : Z := match t with Only _ _ _ b => b | Larger _ l r => Z.max (top_most l) (top_most r) end.
Fixpoint top_places (t : top_tree) : list nat := match t with Only _ i _ _ => [i] | Larger _ l r => top_places l ++ top_places r end.
Fixpoint top_leasts (t : top_tree) : list Z := match t with Only _ _ a _ => [a] | Larger _ l r => top_leasts l ++ top_leasts r end.
Definition in_tops (t : top_tree) : list formula := [AtMost (Num_ (top_least t)) (U (top_node t)); AtMost (U (top_node t)) (Num_ (top_most t))].
Definition code_term (n : positive) : term := Plus (U n) (Num_ (tops_low x)).
(** The exponent with which a term is compared. *)
Definition entering (a : addend) : term :=
  match zero_exponent d with ZeroNone => If (Is (zero_node a)) (Num_ (tops_low x)) (exponent (of a)) | _ => part a end.
Fixpoint comparison_claims (t : top_tree) : list claim :=
  match t with
  | Only n i least most =>
      let a := nth i (addends x) absent in
      [Claim [in_span a] (Equal (code_term n) (entering a));
       Claim [in_span a] (Both (AtMost (Num_ least) (U n)) (AtMost (U n) (Num_ most)))]
  | Larger n l r =>
      Claim [] (Both (Both (AtMost (U (top_node l)) (U n)) (AtMost (U (top_node r)) (U n)))
                  (Either (Equal (U n) (U (top_node l))) (Equal (U n) (U (top_node r)))))
      :: comparison_claims l ++ comparison_claims r
  end.
Definition top_claims : list claim :=
  [Claim (in_tops (tops x)) (Equal top_term (code_term (top_node (tops x))));
   Claim (in_tops (tops x)) (AtMost (U (top x)) (Num_ (top_span x)))] ++ comparison_claims (tops x).

(** Alignment: [aligned * 2^shift] is the magnitude, cut toward zero or to odd, or so that the signed number is rounded down. *)
Definition up (a : addend) : Z := Z.max 0 (f - bits_below (of a)).
Definition down (a : addend) : Z := Z.max 0 (bits_below (of a) - f).
Definition align_width (a : addend) : Z := width_in m (significand (of a)) + up a.
Definition clamped (a : addend) : term := Low (U (shift a)) (Num_ (align_width a)).
Definition align_claims (a : addend) : list claim :=
  let scaled t := Times (Shift t (clamped a)) (Num_ (2 ^ down a)) in
  let magnitude := Times (U (significand (of a))) (Num_ (2 ^ up a)) in
  let kept := U (aligned a) in
  [Claim (Negation (Is (zero_node a)) :: in_span a :: AtMost (exponent (of a)) top_term :: in_tops (tops x)) (Equal (U (shift a)) (Minus top_term (exponent (of a))));
   Claim [] (match alignment d with
     | RO => Either (Equal (scaled kept) magnitude)
               (Both (Equal (Bits 0 1 kept) (Num_ 1))
                  (Both (Less (scaled (Minus kept (Num_ 1))) magnitude) (Less magnitude (scaled (Plus kept (Num_ 1))))))
     | RD => floor_formula m f (of a) (shift a) (aligned a)
     | _ => Both (AtMost (scaled kept) magnitude) (Less magnitude (scaled (Plus kept (Num_ 1))))
     end);
   Claim [] (AtMost kept (Num_ (largest_aligned a)))].

(** The sum. *)
Definition tree_node (t : sum_tree) : positive := match t with Leaf n _ | Partial n _ _ => n end.
Fixpoint tree_bound (t : sum_tree) : Z :=
  match t with
  | Leaf _ i => largest_aligned (nth i (addends x) absent)
  | Partial _ l r => tree_bound l + tree_bound r
  end.
Definition within_tree (t : sum_tree) : formula := within (tree_bound t) (Sg (tree_node t)).
Fixpoint tree_claims (t : sum_tree) : list claim :=
  match t with
  | Leaf n i =>
      let a := nth i (addends x) absent in
      [Claim [] (Equal (Sg n) (If (Is (sign (of a))) (Minus (Num_ 0) (U (aligned a))) (U (aligned a))))]
  | Partial n l r =>
      Claim [within_tree l; within_tree r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) :: tree_claims l ++ tree_claims r
  end.
Fixpoint places (t : sum_tree) : list nat := match t with Leaf _ i => [i] | Partial _ l r => places l ++ places r end.

Definition n_term : term := Sg (total_node x).
Definition n_zero : formula := Equal n_term (Num_ 0).
Definition n_within : formula := within (tree_bound (partials x)) n_term.
Definition sum_claims : list claim :=
  Claim [within_tree (partials x)] (Equal n_term (Sg (tree_node (partials x)))) :: tree_claims (partials x).

Definition numbers_of : list number := map of (addends x).
Definition unit_term : term := Plus (U (top x)) (Num_ (top_low x - f)).
Definition sum_sign_formula : formula :=
  let agree := Either (all_of (map (fun r => Is (sign r)) numbers_of)) (all_of (map (fun r => Negation (Is (sign r))) numbers_of)) in
  let nothing := all_of (map (fun a => Equal (U (aligned a)) (Num_ 0)) (addends x)) in
  Either (Both (Negation n_zero) (Less n_term (Num_ 0)))
    (Both n_zero (Either (Both (Both nothing agree) (any_of (map (fun r => Is (sign r)) numbers_of)))
                         (Both (Negation (Both nothing agree)) (constant (match rho c with RD => true | _ => false end))))).

(** What is rounded. *)
Definition fused_sum : to_round :=
  ToRound numbers_of (Abs n_term) n_zero (Less n_term (Num_ 0)) unit_term (tree_bound (partials x))
    [n_within; AtMost (U (top x)) (Num_ (top_span x))] sum_sign_formula.

(** Terms at the largest exponent; and their sum. *)
Definition aligned_claims : list claim := flat_map term_claims (addends x) ++ flat_map align_claims (addends x) ++ top_claims.
Definition front_claims : list claim := aligned_claims ++ sum_claims.

(** What is computed beside the claims. *)
Definition tops_ok (t : top_tree) : bool :=
  forallb (fun i => (i <? length (addends x))%nat) (top_places t) && forallb (fun z => 0 <=? z) (top_leasts t) &&
  forallb (fun i => existsb (Nat.eqb i) (top_places t)) (seq 0 (length (addends x))).
Definition front_ok : bool :=
  match fraction_bits d with Some g => g =? f | None => false end && match alignment d with RZ | RO | RD => true | _ => false end &&
  match carry_bits d with None => true | _ => false end && negb (normalise d) &&
  forallb (fun a => 1 <=? width_in m (significand (of a))) (addends x) && tops_ok (tops x) &&
  (forallb (fun i => (i <? length (addends x))%nat) (places (partials x)) && (length (places (partials x)) =? length (addends x))%nat &&
   forallb (fun i => existsb (Nat.eqb i) (places (partials x))) (seq 0 (length (addends x)))).

(** The nodes whose values are read as numbers in their widths. *)
Definition front_nodes : list positive :=
  top x :: total_node x :: flat_map (fun a => [significand (of a); code (of a); shift a; aligned a; sign (of a)]) (addends x).
End Claims.

Definition fused_claims (m : widths) (ctx : number -> list formula) (d : sum) (f : Z) (x : fused) : list claim :=
  front_claims m ctx d f x ++ kept_claims (out d) (closing x) (fused_sum d f x) ++ outcome_claims (out d) (closing x) (fused_sum d f x).
Definition fused_ok (m : widths) (d : sum) (f : Z) (x : fused) : bool := front_ok m d f x && ending_ok m (out d) (closing x).
Definition fused_nodes (x : fused) : list positive := front_nodes x ++ ending_nodes (closing x).

(** * The claims are enough *)

(** A count in units of another exponent, rounded down. *)
Lemma floor_is x s up dn b : 0 <= s -> 0 <= up -> 0 <= dn -> b * 2 ^ s * 2 ^ dn <= x * 2 ^ up < (b + 1) * 2 ^ s * 2 ^ dn ->
  round_div RD x (s + dn - up) = b.
Proof.
  intros S U D H. rewrite <- !Z.mul_assoc, <- Z.pow_add_r in H by lia. rewrite round_div_unfold. pose proof (pow2_pos (s + dn) ltac:(lia)). pose proof (pow2_pos up U).
  destruct (Z.leb_spec (s + dn - up) 0) as [L|L].
  - assert (Q : 2 ^ up = 2 ^ (- (s + dn - up)) * 2 ^ (s + dn)) by (rewrite <- Z.pow_add_r by lia; f_equal; lia). rewrite Q in H. nia.
  - assert (Q : 2 ^ (s + dn) = 2 ^ (s + dn - up) * 2 ^ up) by (rewrite <- Z.pow_add_r by lia; f_equal; lia). rewrite Q in H. set (z := 2 ^ (s + dn - up)) in *.
    assert (PZ : 0 < z) by (apply pow2_pos; lia). assert (B : b * z <= x < (b + 1) * z) by nia.
    assert (E : x / z = b) by (symmetry; apply Z.div_unique with (x - b * z); [left|]; lia). rewrite E. now destruct (x mod z =? 0).
Qed.

Lemma clamped_floor x s w dn b : 0 <= s -> 0 <= w -> 0 < dn -> Z.abs x < 2 ^ w -> b * 2 ^ Z.min s w * dn <= x < (b + 1) * 2 ^ Z.min s w * dn ->
  b * 2 ^ s * dn <= x < (b + 1) * 2 ^ s * dn.
Proof.
  intros S W D B H. destruct (Z.le_gt_cases s w) as [L|L]; [now rewrite Z.min_l in H by lia|]. rewrite Z.min_r in H by lia.
  assert (P : 2 ^ w <= 2 ^ s) by (apply Z.pow_le_mono_r; lia). pose proof (pow2_pos w W). set (z := 2 ^ w) in *. set (y := 2 ^ s) in *.
  assert (PZ : z <= z * dn) by nia. assert (PY : z * dn <= y * dn) by nia. rewrite <- !Z.mul_assoc in *. set (zd := z * dn) in *. set (yd := y * dn) in *.
  assert (Q : b = 0 \/ b = -1) by nia. destruct Q as [-> | ->]; lia.
Qed.

Lemma floor_value m v f r s k : truth m v (floor_formula m f r s k) = true ->
  let up := Z.max 0 (f - bits_below r) in let z := 2 ^ Z.min (v s) (width_in m (significand r) + up) in let dn := 2 ^ Z.max 0 (bits_below r - f) in
  let b := with_sign (v (sign r) =? 1) (v k) in b * z * dn <= signed (num_in v r) * 2 ^ up < (b + 1) * z * dn.
Proof.
  intros H up z dn b. unfold floor_formula in H. cbn [truth] in H. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in H. unfold b, z, dn, up, with_sign, signed, num_in; cbn [neg sig].
  unfold signed_term in H. cbn [value truth] in H. destruct (v (sign r) =? 1); rewrite ?Z.sub_0_l in H; exact H.
Qed.

Lemma floor_zero m v f r s k : 0 <= v k -> v (significand r) = 0 -> truth m v (floor_formula m f r s k) = true -> v k = 0.
Proof.
  intros K G H. apply floor_value in H. cbv zeta in H. unfold signed, num_in in H; cbn [neg sig] in H. rewrite G in H. set (z := 2 ^ Z.min _ _) in *. set (dn := 2 ^ Z.max 0 (bits_below r - f)) in *.
  assert (PZ : 0 <= z) by apply Z.pow_nonneg, Z.le_0_2. assert (PD : 0 <= dn) by apply Z.pow_nonneg, Z.le_0_2. rewrite <- !Z.mul_assoc in H. assert (0 <= z * dn) by nia. set (w := z * dn) in *. unfold with_sign in H.
  destruct (v (sign r) =? 1); cbn in H; nia.
Qed.

Lemma floor_cut m v f r s k E : fits m v (significand r) -> 0 <= v s -> v s = E - (v (code r) + low r) -> truth m v (floor_formula m f r s k) = true ->
  cut RD (E - f) (num_in v r) = with_sign (v (sign r) =? 1) (v k).
Proof.
  intros [G0 G1] S0 SE H. apply floor_value in H. cbv zeta in H. set (up := Z.max 0 (f - bits_below r)) in *. set (dn := Z.max 0 (bits_below r - f)) in *. set (w := width_in m (significand r) + up) in *.
  assert (UP : 0 <= up) by apply Z.le_max_l. assert (DN : 0 <= dn) by apply Z.le_max_l. assert (WC : 0 <= width_in m (significand r)). { destruct (Z.lt_ge_cases (width_in m (significand r)) 0) as [L|L]; [rewrite Z.pow_neg_r in G1 by lia; lia|lia]. }
  unfold cut. unfold lsb at 1, num_in at 2 3; cbn [exp frac]. replace (E - f - (v (code r) + low r - bits_below r)) with (v s + dn - up) by (clear - SE; unfold up, dn; lia).
  pose proof (pow2_pos up UP). pose proof (pow2_pos dn DN). apply floor_is; auto. apply (clamped_floor _ _ w); auto; [unfold w; lia|].
  unfold w. rewrite Z.pow_add_r by lia. assert (AX : Z.abs (signed (num_in v r)) = v (significand r)) by (unfold signed, num_in; cbn [neg sig]; destruct (v (sign r) =? 1); lia).
  rewrite Z.abs_mul, AX, (Z.abs_eq (2 ^ up)) by lia. apply Z.mul_lt_mono_pos_r; lia.
Qed.

(** The magnitude [g * 2^-fr], at the exponent [e], in units of [2^(E - f)]. *)
Lemma cut_floor f s a g neg_ e fr : 0 <= s -> 0 <= g -> 0 <= a ->
  let u := Z.max 0 (f - fr) in let dn := Z.max 0 (fr - f) in
  a * 2 ^ s * 2 ^ dn <= g * 2 ^ u < (a + 1) * 2 ^ s * 2 ^ dn ->
  cut RZ (s + e - f) {| neg := neg_; sig := g; exp := e; frac := fr |} = with_sign neg_ a.
Proof.
  intros S G A u dn H. unfold cut, signed, lsb; cbn [neg sig exp frac]. set (k := s + e - f - (e - fr)).
  assert (K : k = s + dn - u) by (unfold k, u, dn; lia).
  assert (PU : 0 < 2 ^ u) by (apply pow2_pos; unfold u; lia). assert (PD : 0 < 2 ^ dn) by (apply pow2_pos; unfold dn; lia).
  assert (PS : 0 < 2 ^ s) by (apply pow2_pos; lia). rewrite <- !Z.mul_assoc, <- Z.pow_add_r in H by (unfold dn; lia).
  destruct (Z.le_gt_cases k 0) as [L|L].
  - assert (Q : 2 ^ u = 2 ^ (- k) * 2 ^ (s + dn)) by (rewrite <- Z.pow_add_r by (unfold dn in *; lia); f_equal; lia).
    assert (0 < 2 ^ (s + dn)) by (apply pow2_pos; unfold dn; lia). rewrite Q in H.
    assert (E : a = g * 2 ^ (- k)) by (clear - H H0; nia). rewrite round_div_unfold. destruct (Z.leb_spec k 0); [|lia]. rewrite E. unfold with_sign. destruct neg_; lia.
  - assert (Q : 2 ^ (s + dn) = 2 ^ k * 2 ^ u) by (rewrite <- Z.pow_add_r by (unfold u in *; lia); f_equal; lia). rewrite Q in H.
    assert (B : a * 2 ^ k <= g < (a + 1) * 2 ^ k) by (clear - H PU; nia).
    assert (AB : Z.abs (if neg_ then - g else g) = g) by (destruct neg_; lia).
    rewrite (round_div_kept RZ _ a k) by (rewrite ?AB; lia || auto). cbn [away_rule Z.b2z]. rewrite Z.add_0_r.
    destruct neg_.
    + destruct (Z.ltb_spec (- g) 0); auto. assert (g = 0) by lia. subst g. pose proof (pow2_pos k ltac:(lia)) as PK. assert (a = 0) by (clear - A B PK; nia). subst a. reflexivity.
    + destruct (Z.ltb_spec g 0); auto. lia.
Qed.

Lemma cut_odd f s a g neg_ e fr : 0 <= s -> 0 <= g -> 0 <= a ->
  let u := Z.max 0 (f - fr) in let dn := Z.max 0 (fr - f) in
  (a * 2 ^ s * 2 ^ dn = g * 2 ^ u \/ (Z.odd a = true /\ (a - 1) * 2 ^ s * 2 ^ dn < g * 2 ^ u < (a + 1) * 2 ^ s * 2 ^ dn)) ->
  cut RO (s + e - f) {| neg := neg_; sig := g; exp := e; frac := fr |} = with_sign neg_ a.
Proof.
  intros S G A u dn H. unfold cut, signed, lsb; cbn [neg sig exp frac]. set (k := s + e - f - (e - fr)).
  assert (K : k = s + dn - u) by (unfold k, u, dn; lia).
  assert (PU : 0 < 2 ^ u) by (apply pow2_pos; unfold u; lia). assert (PD : 0 < 2 ^ dn) by (apply pow2_pos; unfold dn; lia).
  assert (PS : 0 < 2 ^ s) by (apply pow2_pos; lia). rewrite <- !Z.mul_assoc, <- Z.pow_add_r in H by (unfold dn; lia).
  assert (AB : Z.abs (if neg_ then - g else g) = g) by (destruct neg_; lia).
  destruct (Z.le_gt_cases k 0) as [L|L].
  - assert (Q : 2 ^ u = 2 ^ (- k) * 2 ^ (s + dn)) by (rewrite <- Z.pow_add_r by (unfold dn in *; lia); f_equal; lia).
    assert (0 < 2 ^ (s + dn)) by (apply pow2_pos; unfold dn; lia). rewrite Q in H.
    assert (E : a = g * 2 ^ (- k)) by (clear - H H0; destruct H as [H|[_ H]]; nia). rewrite round_div_unfold. destruct (Z.leb_spec k 0); [|lia]. rewrite E. unfold with_sign. destruct neg_; lia.
  - assert (Q : 2 ^ (s + dn) = 2 ^ k * 2 ^ u) by (rewrite <- Z.pow_add_r by (unfold u in *; lia); f_equal; lia). rewrite Q in H.
    assert (PK : 0 < 2 ^ k) by (apply pow2_pos; lia).
    assert (W : forall b, with_sign ((if neg_ then - g else g) <? 0) b = with_sign neg_ b \/ (g = 0)).
    { intros b. destruct neg_; cbn [with_sign]; destruct (Z.eq_dec g 0); auto; left; [destruct (Z.ltb_spec (- g) 0)|destruct (Z.ltb_spec g 0)]; unfold with_sign; auto; lia. }
    destruct H as [H|[O H]].
    + assert (B : g = a * 2 ^ k) by (clear - H PU; nia). rewrite (round_div_kept RO _ a k) by (rewrite ?AB; clear - A B PK L; lia). rewrite AB. unfold away_rule. replace (g - a * 2 ^ k) with 0 by lia. cbn [Z.eqb negb andb Z.b2z]. rewrite Z.add_0_r.
      destruct (W a) as [-> | G0]; auto. assert (a = 0) by (clear - B G0 PK; nia). subst a. unfold with_sign. now destruct (_ <? 0), neg_.
    + assert (B : (a - 1) * 2 ^ k < g < (a + 1) * 2 ^ k) by (clear - H PU; nia). destruct (Z.le_gt_cases (a * 2 ^ k) g) as [J|J].
      * rewrite (round_div_kept RO _ a k) by (rewrite ?AB; lia). rewrite AB. unfold away_rule. rewrite <- Z.negb_odd, O. cbn [negb]. rewrite andb_false_r. cbn [Z.b2z]. rewrite Z.add_0_r.
        destruct (W a) as [-> | G0]; auto. exfalso. assert (Az : a <> 0) by (intros ->; easy). clear - Az A J G0 PK. nia.
      * assert (Az : a <> 0) by (intros ->; easy). rewrite (round_div_kept RO _ (a - 1) k) by (rewrite ?AB; lia). rewrite AB. unfold away_rule.
        replace (Z.even (a - 1)) with true by (rewrite Z.even_sub, <- Z.negb_odd, O; reflexivity). destruct (Z.eqb_spec (g - (a - 1) * 2 ^ k) 0); [lia|]. cbn [negb andb Z.b2z].
        replace (a - 1 + 1) with a by lia. destruct (W a) as [-> | G0]; auto. exfalso. clear - Az A B G0 PK. nia.
Qed.

Section Sound.
Variables (ct : circuit) (ctx : number -> list formula) (d : sum) (f : Z) (x : front) (v : env).
Let m := widths_of ct.
Let c := out d.
Hypothesis OK : front_ok m d f x = true.
Hypothesis CL : Forall (holds ct) (aligned_claims m ctx d f x).
Hypothesis CS : Forall (holds ct) (sum_claims x).
Hypothesis SOL : solution ct v.
Hypothesis NODES : forall i, In i (front_nodes x) -> fits m v i.

Let T := truth m v.
Hypothesis CTX : forall a, In a (addends x) -> T (finite (of a)) = true -> forallb T (ctx (of a)) = true.

Lemma ok_parts : fraction_bits d = Some f /\ (alignment d = RZ \/ alignment d = RO \/ alignment d = RD) /\ carry_bits d = None /\ normalise d = false /\
  (forall a, In a (addends x) -> 1 <= width_in m (significand (of a))) /\
  Permutation (seq 0 (length (addends x))) (places (partials x)).
Proof.
  unfold front_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[A B] C] D] J] _] [[K L] M]].
  destruct (fraction_bits d) as [g|] eqn:Fb; [|easy]. apply Z.eqb_eq in A. apply negb_true_iff in D. subst g.
  destruct (carry_bits d) eqn:Cb; try easy. rewrite forallb_forall in J, M. apply Nat.eqb_eq in L.
  split; [auto|]. split. { destruct (alignment d); try easy; auto. } split; [auto|]. split; [auto|]. split.
  - intros a Ha. apply Z.leb_le. auto.
  - apply NoDup_Permutation_bis. apply seq_NoDup. rewrite seq_length, L. auto. intros i Hi. specialize (M i Hi). rewrite existsb_exists in M.
    destruct M as [j [Hj Q]]. apply Nat.eqb_eq in Q. now subst.
Qed.

Lemma tops_are_ok : tops_ok x (tops x) = true.
Proof. unfold front_ok in OK. rewrite !andb_true_iff in OK. now destruct OK as [[_ A] _]. Qed.

Lemma use q : In q (aligned_claims m ctx d f x) -> forallb T (given q) = true -> T (goal q) = true.
Proof. intros I G. rewrite Forall_forall in CL. exact (CL q I v SOL G). Qed.
Lemma use_sum q : In q (sum_claims x) -> forallb T (given q) = true -> T (goal q) = true.
Proof. intros I G. rewrite Forall_forall in CS. exact (CS q I v SOL G). Qed.

Lemma in_terms a q : In a (addends x) -> In q (term_claims ctx a) -> In q (aligned_claims m ctx d f x).
Proof. intros A Q. unfold aligned_claims. apply in_or_app. left. apply in_flat_map. eauto. Qed.
Lemma in_aligns a q : In a (addends x) -> In q (align_claims m d f x a) -> In q (aligned_claims m ctx d f x).
Proof. intros A Q. unfold aligned_claims. apply in_or_app. right. apply in_or_app. left. apply in_flat_map. eauto. Qed.
Lemma in_tops_claims q : In q (top_claims d x) -> In q (aligned_claims m ctx d f x).
Proof. intros Q. unfold aligned_claims. do 2 (apply in_or_app; right). exact Q. Qed.

Lemma node_in a i : In a (addends x) -> In i [significand (of a); code (of a); shift a; aligned a; sign (of a)] -> fits m v i.
Proof. intros A I. apply NODES. unfold front_nodes. do 2 right. apply in_flat_map. eauto. Qed.

Lemma fits_low i : fits m v i -> 0 <= v i. Proof. intros H. apply H. Qed.

Section Finite.
Hypothesis FIN : Forall (fun r => T (finite r) = true) (numbers_of x).

Lemma fin a : In a (addends x) -> T (finite (of a)) = true.
Proof. intros A. rewrite Forall_forall in FIN. apply FIN. now apply in_map. Qed.

Lemma spans_true : forallb T (spans x) = true.
Proof.
  unfold spans. rewrite forallb_map. apply forallb_forall. intros a A.
  apply (use (Claim (finite (of a) :: ctx (of a)) (in_span a))). { apply in_terms with a; auto. now left. }
  cbn [given forallb]. rewrite fin by easy. rewrite CTX; auto. now apply fin.
Qed.

Lemma zero_is a : In a (addends x) -> (v (zero_node a) =? 1) = is_zero (num_in v (of a)).
Proof.
  intros A. assert (H : T (Iff (Is (zero_node a)) (Equal (U (significand (of a))) (Num_ 0))) = true).
  { apply (use (Claim (finite (of a) :: ctx (of a)) (Iff (Is (zero_node a)) (Equal (U (significand (of a))) (Num_ 0))))).
    apply in_terms with a; auto. right; now left. cbn [given forallb]. rewrite fin by easy. rewrite CTX; auto. now apply fin. }
  unfold T in H. rewrite truth_iff in H. apply eqb_prop in H. exact H.
Qed.

Let E := v (top x) + top_low x.
Let ts := map (num_in v) (numbers_of x).

Lemma part_is a : In a (addends x) ->
  term_exponent d (num_in v (of a)) = if T (takes_part d a) then Some (value m v (part d a)) else None.
Proof.
  intros A. destruct ok_parts as [_ [_ [_ [N _]]]]. unfold term_exponent. rewrite N, <- (zero_is a A).
  unfold T, takes_part, part. destruct (zero_exponent d); simpl; destruct (v (zero_node a) =? 1); reflexivity.
Qed.

Lemma comparisons_are t : (forall q, In q (comparison_claims d x t) -> In q (aligned_claims m ctx d f x)) ->
  (forall i, In i (top_places t) -> (i < length (addends x))%nat) -> (forall z, In z (top_leasts t) -> 0 <= z) ->
  let at_ i := value m v (entering d x (nth i (addends x) absent)) in
  top_least t <= v (top_node t) <= top_most t /\ (forall i, In i (top_places t) -> tops_low x <= at_ i <= v (top_node t) + tops_low x) /\
  (exists i, In i (top_places t) /\ at_ i = v (top_node t) + tops_low x).
Proof.
  intros Q P Z. cbn zeta. induction t as [n i least most|n l IHl r IHr].
  - assert (A : In (nth i (addends x) absent) (addends x)) by (apply nth_In, P; now left). set (a := nth i (addends x) absent) in *.
    assert (SP : forallb T [in_span a] = true).
    { pose proof spans_true as S. unfold spans in S. rewrite forallb_map, forallb_forall in S. cbn [forallb]. now rewrite (S a A). }
    assert (H : T (Equal (code_term x n) (entering d x a)) = true).
    { apply (use (Claim [in_span a] (Equal (code_term x n) (entering d x a)))); [apply Q; now left|exact SP]. }
    assert (R : T (Both (AtMost (Num_ least) (U n)) (AtMost (U n) (Num_ most))) = true).
    { apply (use (Claim [in_span a] (Both (AtMost (Num_ least) (U n)) (AtMost (U n) (Num_ most))))); [apply Q; right; now left|exact SP]. }
    unfold T in H, R. cbn [truth] in H, R. apply Z.eqb_eq in H. cbn [value code_term] in H, R. rewrite andb_true_iff, !Z.leb_le in R.
    cbn [top_least top_most top_node top_places]. split; [exact R|]. split.
    + intros j [<-|[]]. fold a. specialize (Z least (or_introl eq_refl)). lia.
    + exists i. split; [now left|]. fold a. lia.
  - destruct IHl as [LB [LL [i [LI LE]]]]. { intros q I. apply Q. cbn [comparison_claims]. right. apply in_or_app. now left. } { intros j I. apply P. cbn [top_places]. apply in_or_app. now left. } { intros z I. apply Z. cbn [top_leasts]. apply in_or_app. now left. }
    destruct IHr as [RB [RL [j [RI RE]]]]. { intros q I. apply Q. cbn [comparison_claims]. right. apply in_or_app. now right. } { intros k I. apply P. cbn [top_places]. apply in_or_app. now right. } { intros z I. apply Z. cbn [top_leasts]. apply in_or_app. now right. }
    set (g := Both (Both (AtMost (U (top_node l)) (U n)) (AtMost (U (top_node r)) (U n))) (Either (Equal (U n) (U (top_node l))) (Equal (U n) (U (top_node r))))).
    assert (H : T g = true) by (apply (use (Claim [] g)); [apply Q; now left|reflexivity]).
    unfold T, g in H. cbn [truth value] in H. rewrite !andb_true_iff, orb_true_iff, !Z.leb_le, !Z.eqb_eq in H.
    cbn [top_least top_most top_node top_places]. split; [lia|]. split.
    + intros k I. apply in_app_or in I. destruct I as [I|I]; [specialize (LL k I)|specialize (RL k I)]; lia.
    + destruct H as [_ [H|H]]; [exists i|exists j]; (split; [apply in_or_app; auto|lia]).
Qed.

Lemma tops_are : let at_ i := value m v (entering d x (nth i (addends x) absent)) in
  forallb T (in_tops (tops x)) = true /\ (forall i, In i (top_places (tops x)) -> tops_low x <= at_ i <= E) /\ (exists i, In i (top_places (tops x)) /\ at_ i = E).
Proof.
  cbn zeta. pose proof tops_are_ok as TK. unfold tops_ok in TK. rewrite !andb_true_iff, !forallb_forall in TK. destruct TK as [[TP TL] _].
  destruct (comparisons_are (tops x)) as [B [L I]].
  { intros q Q. apply in_tops_claims. unfold top_claims. apply in_or_app. now right. }
  { intros i I. apply Nat.ltb_lt. now apply TP. } { intros z I. now apply Z.leb_le, TL. }
  assert (R : forallb T (in_tops (tops x)) = true).
  { unfold in_tops. cbn [forallb]. unfold T. cbn [truth value]. rewrite !(proj2 (Z.leb_le _ _)) by lia. reflexivity. }
  assert (H : T (Equal (top_term x) (code_term x (top_node (tops x)))) = true).
  { apply (use (Claim (in_tops (tops x)) (Equal (top_term x) (code_term x (top_node (tops x)))))); [apply in_tops_claims; now left|exact R]. }
  unfold T in H. cbn [truth value top_term code_term] in H. apply Z.eqb_eq in H. fold E in H. rewrite H. auto.
Qed.

Lemma entering_is a : T (takes_part d a) = true -> value m v (entering d x a) = value m v (part d a).
Proof.
  unfold T, takes_part, entering, part. destruct (zero_exponent d); auto. cbn [truth value]. intros Z. apply negb_true_iff in Z. now rewrite Z.
Qed.

Lemma entering_of a : In a (addends x) -> exists i, In i (top_places (tops x)) /\ nth i (addends x) absent = a.
Proof.
  intros A. apply In_nth with (d := absent) in A. destruct A as [i [L <-]]. exists i. split; auto.
  pose proof tops_are_ok as TK. unfold tops_ok in TK. rewrite !andb_true_iff, !forallb_forall in TK. destruct TK as [_ TK].
  assert (H : In i (seq 0 (length (addends x)))) by (apply in_seq; lia). specialize (TK i H). apply existsb_exists in TK.
  destruct TK as [j [J Q]]. apply Nat.eqb_eq in Q. now subst.
Qed.

Lemma part_le a : In a (addends x) -> T (takes_part d a) = true -> value m v (part d a) <= E.
Proof.
  intros A P. destruct tops_are as [_ [L _]]. destruct (entering_of a A) as [i [I Q]]. specialize (L i I). cbv beta in L. rewrite Q in L.
  now rewrite <- (entering_is a P).
Qed.

Lemma below_top a : In a (addends x) -> T (Negation (Is (zero_node a))) = true -> T (AtMost (exponent (of a)) (top_term x)) = true.
Proof.
  intros A NZ. unfold T. cbn [truth]. apply Z.leb_le. change (value m v (top_term x)) with E.
  assert (TP : T (takes_part d a) = true) by (unfold takes_part; destruct (zero_exponent d); auto).
  pose proof (part_le a A TP) as P. unfold part in P. destruct (zero_exponent d); auto. unfold T in NZ. cbn [truth value] in NZ, P. apply negb_true_iff in NZ. now rewrite NZ in P.
Qed.

(** A term that takes part in the largest exponent has it, unless none does. *)
Lemma part_is_top : (forall a, In a (addends x) -> T (takes_part d a) = false) \/
  exists a, In a (addends x) /\ T (takes_part d a) = true /\ value m v (part d a) = E.
Proof.
  destruct (forallb (fun a => negb (T (takes_part d a))) (addends x)) eqn:N.
  { left. rewrite forallb_forall in N. intros a A. now apply negb_true_iff, N. }
  right. destruct tops_are as [_ [L [i [I Q]]]]. cbv beta in *. pose proof tops_are_ok as TK. unfold tops_ok in TK. rewrite !andb_true_iff, !forallb_forall in TK. destruct TK as [[TP _] _].
  assert (A : In (nth i (addends x) absent) (addends x)) by (apply nth_In, Nat.ltb_lt; auto). set (a := nth i (addends x) absent) in *.
  destruct (T (takes_part d a)) eqn:Ta. { exists a. repeat split; auto. now rewrite <- entering_is. }
  assert (B : exists b, In b (addends x) /\ T (takes_part d b) = true).
  { apply not_true_iff_false in N. destruct (existsb (fun b => T (takes_part d b)) (addends x)) eqn:X.
    - apply existsb_exists in X. destruct X as [b X]. eauto.
    - exfalso. apply N. apply forallb_forall. intros b B. apply negb_true_iff. apply not_true_iff_false. intros Y. apply not_true_iff_false in X. apply X. apply existsb_exists. eauto. }
  destruct B as [b [B Tb]]. exists b. repeat split; auto.
  (* the largest is that of a zero, which is the least of all *)
  assert (EL : E = tops_low x).
  { rewrite <- Q. unfold T, takes_part in Ta. unfold entering. destruct (zero_exponent d); try easy. cbn [truth] in Ta. apply negb_false_iff in Ta. cbn [value truth]. now rewrite Ta. }
  pose proof (part_le b B Tb). assert (tops_low x <= value m v (part d b)); [|lia].
  rewrite <- (entering_is b Tb). destruct (entering_of b B) as [j [J <-]].
  specialize (L j J). cbv beta in L. lia.
Qed.

Lemma largest_is : largest d ts = Some E \/ (largest d ts = None /\ forall a, In a (addends x) -> T (takes_part d a) = false).
Proof.
  assert (TE : forall t, In t ts -> exists a, In a (addends x) /\ t = num_in v (of a)).
  { intros t I. unfold ts, numbers_of in I. rewrite map_map in I. apply in_map_iff in I. destruct I as [a [<- A]]. eauto. }
  destruct part_is_top as [Q|[a [A [H1 H2]]]].
  - right.
    split; auto. assert (L : forall t, In t ts -> term_exponent d t = None).
    { intros t I. destruct (TE t I) as [a [A ->]]. rewrite part_is, Q by easy. reflexivity. }
    unfold largest. clear -L. induction ts as [|t l IH]; simpl; auto. rewrite L by (now left). rewrite IH; auto. intros. apply L. now right.
  - left. apply ole_antisym.
    + apply largest_le. intros t I. destruct (TE t I) as [b [B ->]]. rewrite part_is by easy. destruct (T (takes_part d b)) eqn:Q; simpl; auto. now apply part_le.
    + replace (Some E) with (term_exponent d (num_in v (of a))). { apply largest_in. unfold ts, numbers_of. rewrite map_map. now apply (in_map (fun a => num_in v (of a))). }
      rewrite part_is by easy. now rewrite H1, H2.
Qed.

Lemma aligned_is a : In a (addends x) -> 0 <= v (aligned a) <= largest_aligned a /\
  cut (alignment d) (E - f) (num_in v (of a)) = with_sign (v (sign (of a)) =? 1) (v (aligned a)) /\ (is_zero (num_in v (of a)) = true -> v (aligned a) = 0).
Proof.
  intros A. set (g := v (significand (of a))). set (al := v (aligned a)).
  assert (FG : fits m v (significand (of a))) by (apply (node_in a); simpl; auto). assert (G0 : 0 <= g) by apply (fits_low _ FG).
  assert (A0 : 0 <= al) by (apply fits_low; apply (node_in a); simpl; auto). assert (S0 : 0 <= v (shift a)) by (apply fits_low; apply (node_in a); simpl; auto).
  destruct ok_parts as [_ [AM [_ [_ [WS _]]]]]. specialize (WS a A).
  set (w := align_width m f a). assert (UP : 0 <= up f a) by (unfold up; lia). assert (W : 0 <= w) by (unfold w, align_width; lia).
  set (z := 2 ^ Z.min (v (shift a)) w). assert (PZ : 0 < z) by (apply pow2_pos; lia).
  assert (PD : 0 < 2 ^ down f a) by (apply pow2_pos; unfold down; lia). set (dn := 2 ^ down f a) in *. set (mg := g * 2 ^ up f a).
  assert (LA : al <= largest_aligned a).
  { assert (H : T (AtMost (U (aligned a)) (Num_ (largest_aligned a))) = true).
    { apply (use (Claim [] (AtMost (U (aligned a)) (Num_ (largest_aligned a))))); auto. apply in_aligns with a; auto. do 2 right; now left. }
    unfold T in H. cbn [truth value] in H. now apply Z.leb_le in H. }
  assert (GW : 0 <= mg < 2 ^ w).
  { unfold mg, w, align_width. rewrite Z.pow_add_r by lia. destruct FG as [_ FG]. fold g in FG. pose proof (pow2_pos (up f a) UP). clear - G0 FG H. nia. }
  assert (AL : match alignment d with RO => al * z * dn = mg \/ (Z.odd al = true /\ (al - 1) * z * dn < mg < (al + 1) * z * dn)
    | RD => truth m v (floor_formula m f (of a) (shift a) (aligned a)) = true | _ => al * z * dn <= mg < (al + 1) * z * dn end).
  { set (q := nth 1 (align_claims m d f x a) (Claim [] Never)). assert (H : T (goal q) = true).
    { apply use. apply in_aligns with a; auto. right; now left. reflexivity. }
    unfold T, q in H. cbn [nth align_claims goal] in H. destruct AM as [AM|[AM|AM]]; rewrite AM in H |- *; cbn [truth value clamped] in H.
    - rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in H. exact H.
    - apply orb_prop in H. destruct H as [H|H]; [left; now apply Z.eqb_eq in H|right]. rewrite !andb_true_iff, !Z.ltb_lt in H. destruct H as [H1 H2]. split; [|exact H2].
      rewrite Z.pow_0_r, Z.div_1_r in H1. change (2 ^ 1) with 2 in H1. rewrite Zmod_odd in H1. fold al in H1. now destruct (Z.odd al).
    - exact H. }
  assert (Z0 : is_zero (num_in v (of a)) = true -> al = 0).
  { unfold is_zero. cbn [num_in sig]. fold g. intros Q. apply Z.eqb_eq in Q. unfold mg in *. rewrite Q in *. assert (0 < z * dn) by nia. destruct AM as [AM|[AM|AM]]; rewrite AM in AL; [nia| |apply (floor_zero m v f (of a) (shift a) (aligned a)); auto]. destruct AL as [AL|[O AL]]; [nia|]. assert (al <> 0) by (intros R; rewrite R in O; easy). nia. }
  split; [lia|]. split; auto. destruct (is_zero (num_in v (of a))) eqn:Zr.
  { rewrite cut_zero, Z0 by easy. unfold with_sign. now destruct (_ =? 1). }
  assert (NZ : T (Negation (Is (zero_node a))) = true) by (unfold T; cbn [truth]; now rewrite zero_is, Zr).
  assert (SH : v (shift a) = E - (v (code (of a)) + low (of a))).
  { set (q := nth 0 (align_claims m d f x a) (Claim [] Never)). assert (H : T (goal q) = true).
    { apply use. apply in_aligns with a; auto. now left. destruct tops_are as [R _]. pose proof spans_true as S. unfold spans in S. rewrite forallb_map, forallb_forall in S.
      unfold q. cbn [nth align_claims given]. change (forallb T (?p :: ?l)) with (T p && forallb T l). cbn [forallb] in R |- *. rewrite NZ, (S a A), R, (below_top a A NZ). reflexivity. }
    unfold T, q in H. cbn [nth align_claims goal truth value top_term exponent] in H. now apply Z.eqb_eq in H. }
  replace (E - f) with (v (shift a) + (v (code (of a)) + low (of a)) - f) by lia. unfold num_in. fold g.
  assert (ZS : z = 2 ^ v (shift a) \/ (w < v (shift a) /\ z = 2 ^ w)) by (unfold z; destruct (Z.le_gt_cases (v (shift a)) w); [left; now rewrite Z.min_l by lia|right; rewrite Z.min_r by lia; auto]).
  assert (DN1 : 1 <= dn) by lia.
  destruct AM as [AM|[AM|AM]]; rewrite AM in AL |- *.
  - apply cut_floor; auto. fold al. change (Z.max 0 (f - bits_below (of a))) with (up f a). change (Z.max 0 (bits_below (of a) - f)) with (down f a). fold dn mg.
    destruct ZS as [<- |[L Q]]; [exact AL|]. rewrite Q in *. assert (al = 0) by (assert (al * 2 ^ w * 1 <= al * 2 ^ w * dn) by nia; nia). rewrite H in *.
    assert (2 ^ w <= 2 ^ v (shift a)) by (apply Z.pow_le_mono_r; lia). nia.
  - apply cut_odd; auto. fold al. change (Z.max 0 (f - bits_below (of a))) with (up f a). change (Z.max 0 (bits_below (of a) - f)) with (down f a). fold dn mg.
    destruct ZS as [<- |[L Q]]; [exact AL|]. rewrite Q in *. assert (LE : 2 ^ w <= 2 ^ v (shift a)) by (apply Z.pow_le_mono_r; lia).
    destruct AL as [AL|[O AL]].
    + left. assert (al = 0) by (assert (al * 2 ^ w * 1 <= al * 2 ^ w * dn) by nia; nia). rewrite H in *. lia.
    + right. split; auto. assert (A1 : al <> 0) by (intros R; rewrite R in O; easy).
      assert (E1 : al = 1).
      { clear - AL A1 A0 GW DN1 PZ. assert (0 <= (al - 1) * 2 ^ w) by nia. assert ((al - 1) * 2 ^ w < 2 ^ w) by nia. nia. }
      rewrite E1 in *. clear -AL LE DN1. change (1 - 1) with 0 in *. change (1 + 1) with 2 in *. nia.
  - fold al. replace (v (shift a) + (v (code (of a)) + low (of a)) - f) with (E - f) by lia. now apply (floor_cut m v f (of a) (shift a) (aligned a) E).
Qed.

Lemma tree_is t : (forall q, In q (tree_claims x t) -> In q (sum_claims x)) -> (forall i, In i (places t) -> (i < length (addends x))%nat) ->
  sg (width_in m (tree_node t)) (v (tree_node t)) =
    zsum (map (fun i => let a := nth i (addends x) absent in with_sign (v (sign (of a)) =? 1) (v (aligned a))) (places t)) /\
  - tree_bound x t <= sg (width_in m (tree_node t)) (v (tree_node t)) <= tree_bound x t.
Proof.
  induction t as [n i|n l IHl r IHr]; intros Q P.
  - assert (A : In (nth i (addends x) absent) (addends x)) by (apply nth_In, P; now left). set (a := nth i (addends x) absent) in *.
    assert (H : T (Equal (Sg n) (If (Is (sign (of a))) (Minus (Num_ 0) (U (aligned a))) (U (aligned a)))) = true).
    { apply (use_sum (Claim [] (Equal (Sg n) (If (Is (sign (of a))) (Minus (Num_ 0) (U (aligned a))) (U (aligned a)))))); auto. apply Q. now left. }
    unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. cbn [tree_node places map zsum fold_right]. fold a.
    destruct (aligned_is a A) as [FA _]. cbn [tree_bound]. fold a. rewrite H. unfold with_sign.
    destruct (v (sign (of a)) =? 1); lia.
  - destruct IHl as [SL BL]. { intros q I. apply Q. cbn [tree_claims]. right. apply in_or_app. now left. } { intros i I. apply P. cbn [places]. apply in_or_app. now left. }
    destruct IHr as [SR BR]. { intros q I. apply Q. cbn [tree_claims]. right. apply in_or_app. now right. } { intros i I. apply P. cbn [places]. apply in_or_app. now right. }
    assert (H : T (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) = true).
    { apply (use_sum (Claim [within_tree x l; within_tree x r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))))). apply Q. now left.
      cbn [given forallb]. unfold T, within_tree. rewrite !(proj2 (truth_within m v _ _)) by (cbn [value]; assumption). reflexivity. }
    unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. cbn [tree_node places tree_bound]. rewrite H, map_app, zsum_app, SL, SR. rewrite <- SL, <- SR at 2 3. split; auto. lia.
Qed.

Let n := sg (width_in m (total_node x)) (v (total_node x)).

Lemma places_ok i : In i (places (partials x)) -> (i < length (addends x))%nat.
Proof. intros I. destruct ok_parts as [_ [_ [_ [_ [_ P]]]]]. apply (Permutation_in _ (Permutation_sym P)) in I. apply in_seq in I. lia. Qed.

Lemma n_is : n = zsum (map (fun a => with_sign (v (sign (of a)) =? 1) (v (aligned a))) (addends x)) /\
  - tree_bound x (partials x) <= n <= tree_bound x (partials x).
Proof.
  destruct (tree_is (partials x)) as [S B]. { intros q I. now right. } { apply places_ok. }
  assert (H : T (Equal (n_term x) (Sg (tree_node (partials x)))) = true).
  { apply (use_sum (Claim [within_tree x (partials x)] (Equal (n_term x) (Sg (tree_node (partials x)))))). now left.
    cbn [given forallb]. unfold T, within_tree. rewrite !(proj2 (truth_within m v _ _)) by (cbn [value]; assumption). reflexivity. }
  unfold T in H. cbn [truth value n_term] in H. apply Z.eqb_eq in H. fold n in H. rewrite <- H in B, S. split; auto. rewrite S.
  destruct ok_parts as [_ [_ [_ [_ [_ P]]]]]. rewrite <- (zsum_perm _ _ (Permutation_map _ P)). f_equal.
  clear. generalize absent. intros z. generalize (addends x). intros l. 
  assert (X : forall k (g : addend -> Z), map (fun i => g (nth (i - k) l z)) (seq k (length l)) = map g l).
  { induction l as [|a l IH]; intros k g; simpl; auto. rewrite Nat.sub_diag. f_equal. rewrite <- (IH (S k) g). apply map_ext_in. intros i I. apply in_seq in I.
    replace (i - k)%nat with (S (i - S k)) by lia. reflexivity. }
  rewrite <- (X 0%nat). apply map_ext. intros i. now rewrite Nat.sub_0_r.
Qed.

Lemma ts_is : ts = map (fun a => num_in v (of a)) (addends x).
Proof. unfold ts, numbers_of. now rewrite map_map. Qed.

Lemma counts_at u : (forall t, In t ts -> cut (alignment d) u t = cut (alignment d) (E - f) t) -> map (cut (alignment d) u) ts = map (fun a => with_sign (v (sign (of a)) =? 1) (v (aligned a))) (addends x).
Proof.
  intros H. rewrite (map_ext_in _ _ _ H), ts_is, map_map. apply map_ext_in. intros a A. now apply aligned_is.
Qed.

Lemma all_zero_absent : (forall a, In a (addends x) -> T (takes_part d a) = false) -> forall t, In t ts -> is_zero t = true.
Proof.
  intros H t I. rewrite ts_is in I. apply in_map_iff in I. destruct I as [a [<- A]]. specialize (H a A). rewrite <- zero_is by easy.
  unfold T, takes_part in H. destruct (zero_exponent d); cbn [truth] in H; try easy. now apply negb_false_iff in H.
Qed.

Lemma counts_is : counts d ts = map (fun a => with_sign (v (sign (of a)) =? 1) (v (aligned a))) (addends x).
Proof.
  destruct ok_parts as [Fb _]. unfold counts, unit_of. rewrite Fb. destruct largest_is as [L|[L H]]; rewrite L.
  - now apply counts_at.
  - apply counts_at. intros t I. pose proof (all_zero_absent H t I). now rewrite !cut_zero.
Qed.

Lemma counted_is : counted ct (fused_sum d f x) v n (E - f).
Proof.
  constructor; cbn [fused_sum size no_size Finish.down unit]; try reflexivity. cbn [value unit_term]. unfold E. lia.
Qed.

Lemma known_is : forallb T (known (fused_sum d f x)) = true.
Proof.
  destruct n_is as [_ B]. cbn [fused_sum known forallb].
  assert (C1 : T (n_within x) = true) by (unfold T, n_within; apply truth_within; exact B).
  assert (C2 : T (AtMost (U (top x)) (Num_ (top_span x))) = true).
  { apply (use (Claim (in_tops (tops x)) (AtMost (U (top x)) (Num_ (top_span x))))). apply in_tops_claims. right; now left. now destruct tops_are. }
  now rewrite C1, C2.
Qed.

Lemma sign_is : T (sum_sign_formula d x) = sign_of (rho c) n ts (counts d ts).
Proof.
  unfold T, sum_sign_formula, sign_of. cbn [truth]. rewrite !truth_all, !truth_any, truth_constant. cbn [value n_term]. fold n. fold c.
  assert (NTH : T (n_zero x) = (n =? 0)) by reflexivity. unfold T in NTH. rewrite NTH.
  assert (A : forallb (Z.eqb 0) (counts d ts) = forallb (truth m v) (map (fun a => Equal (U (aligned a)) (Num_ 0)) (addends x))).
  { rewrite counts_is, !forallb_map. apply forallb_ext. intros a. cbn [truth value]. unfold with_sign. destruct (v (sign (of a)) =? 1); lia. }
  assert (B : forallb neg ts = forallb (truth m v) (map (fun r => Is (sign r)) (numbers_of x))).
  { unfold ts. rewrite !forallb_map. reflexivity. }
  assert (D : forallb (fun t => negb (neg t)) ts = forallb (truth m v) (map (fun r => Negation (Is (sign r))) (numbers_of x))).
  { unfold ts. rewrite !forallb_map. reflexivity. }
  assert (F : existsb neg ts = existsb (truth m v) (map (fun r => Is (sign r)) (numbers_of x))).
  { unfold ts. rewrite !existsb_map. reflexivity. }
  rewrite A, B, D, F. destruct (n =? 0); cbn [negb andb orb]; [|now rewrite orb_false_r].
  match goal with |- context [if ?b then _ else _] => destruct b end; cbn [negb andb orb]; rewrite ?orb_false_r; auto; now destruct (rho c).
Qed.

Lemma total_is : total d ts = n.
Proof. destruct ok_parts as [Fb [_ [Cb _]]]. destruct n_is as [N _]. unfold total. rewrite Cb, counts_is. now rewrite N. Qed.

(** The largest exponent, or a sum of zeros that have none. *)
Lemma largest_or_none : largest d ts = Some E \/ (largest d ts = None /\ n = 0 /\ E = tops_low x).
Proof.
  destruct largest_is as [L|[L H]]; [now left|right]. split; [exact L|]. split.
  - destruct n_is as [N _]. rewrite N.
    assert (Q : forall a, In a (addends x) -> v (aligned a) = 0).
    { intros a A. apply (aligned_is a A). apply (all_zero_absent H). rewrite ts_is. now apply (in_map (fun a => num_in v (of a))). }
    clear -Q. induction (addends x) as [|a l IH]; auto. cbn [map zsum fold_right]. rewrite Q by (now left). unfold zsum in IH. rewrite IH by (intros; apply Q; now right).
    unfold with_sign. now destruct (_ =? 1).
  - destruct tops_are as [_ [_ [i [I Q]]]]. cbv beta in Q. pose proof tops_are_ok as TK. unfold tops_ok in TK. rewrite !andb_true_iff, !forallb_forall in TK. destruct TK as [[TP _] _].
    assert (A : In (nth i (addends x) absent) (addends x)) by (apply nth_In, Nat.ltb_lt; auto). specialize (H _ A).
    rewrite <- Q. unfold T, takes_part in H. unfold entering. destruct (zero_exponent d); try easy. cbn [truth] in H. apply negb_false_iff in H. cbn [value truth]. now rewrite H.
Qed.

Lemma top_is_low : tops_low x <= E.
Proof. destruct tops_are as [_ [L [i [I _]]]]. specialize (L i I). lia. Qed.

(** The exponent of the sum's unit, where that counts. *)
Lemma unit_is : unit_of d ts = E - f \/ (n = 0 /\ unit_of d ts = 0).
Proof. destruct ok_parts as [Fb _]. unfold unit_of. rewrite Fb. destruct largest_or_none as [->|[-> [N _]]]; auto. Qed.

Lemma sum_is : exists s, s = sign_of (rho c) n ts (counts d ts) /\ sum_numbers d ts = convert c s n (E - f).
Proof.
  exists (sign_of (rho c) n ts (counts d ts)). split; auto. unfold sum_numbers. rewrite total_is. fold c.
  destruct unit_is as [->|[N U]]; auto. rewrite U, N. apply convert_zero.
Qed.
End Finite.

End Sound.

Section Rounded.
Variables (ct : circuit) (ctx : number -> list formula) (d : sum) (f : Z) (x : fused) (v : env).
Let m := widths_of ct.
Let c := out d.
Hypothesis OK : fused_ok m d f x = true.
Hypothesis CL : Forall (holds ct) (fused_claims m ctx d f x).
Hypothesis SOL : solution ct v.
Hypothesis NODES : forall i, In i (fused_nodes x) -> fits m v i.
Let T := truth m v.
Hypothesis CTX : forall a, In a (addends x) -> T (finite (of a)) = true -> forallb T (ctx (of a)) = true.

Let FOK : front_ok m d f x = true. Proof. unfold fused_ok in OK. now apply andb_prop in OK. Qed.
Let FCL : Forall (holds ct) (aligned_claims m ctx d f x). Proof. unfold fused_claims, front_claims in CL. rewrite !Forall_app in CL. tauto. Qed.
Let FCS : Forall (holds ct) (sum_claims x). Proof. unfold fused_claims, front_claims in CL. rewrite !Forall_app in CL. tauto. Qed.
Let FN : forall i, In i (front_nodes x) -> fits m v i. Proof. intros i I. apply NODES. apply in_or_app. now left. Qed.
Lemma end_ok : ending_ok m c (closing x) = true. Proof. unfold fused_ok in OK. now apply andb_prop in OK. Qed.
Lemma in_kept : Forall (holds ct) (kept_claims c (closing x) (fused_sum d f x)). Proof. unfold fused_claims in CL. rewrite !Forall_app in CL. tauto. Qed.
Lemma in_outcome : Forall (holds ct) (outcome_claims c (closing x) (fused_sum d f x)). Proof. unfold fused_claims in CL. rewrite !Forall_app in CL. tauto. Qed.
Lemma ending_fits i : In i (ending_nodes (closing x)) -> fits m v i.
Proof. intros I. apply NODES. apply in_or_app. now right. Qed.

Lemma finished_is : Forall (fun r => T (finite r) = true) (numbers_of x) -> exists s n u, sum_numbers d (map (num_in v) (numbers_of x)) = convert c s n u /\
  finished ct c (closing x) (fused_sum d f x) v s n u.
Proof.
  intros FIN. destruct (sum_is ct ctx d f x v FOK FCL FCS SOL FN CTX FIN) as [s [SS EQ]]. destruct (n_is ct ctx d f x v FOK FCL FCS SOL FN CTX FIN) as [_ B]. fold m in B.
  assert (AB : Z.abs (sg (width_in m (total_node x)) (v (total_node x))) <= bound (fused_sum d f x)) by (cbn [fused_sum bound]; lia).
  pose proof (kept_is ct c (closing x) (fused_sum d f x) v end_ok in_kept SOL ending_fits _ _ (counted_is ct d f x v) AB (known_is ct ctx d f x v FOK FCL FCS SOL FN CTX FIN)) as KF.
  eexists s, _, _. split; [exact EQ|]. constructor; auto.
  - rewrite SS. exact (sign_is ct ctx d f x v FOK FCL SOL FN CTX FIN).
  - intros TI Nz R. exact (tiny_direct ct c (closing x) (fused_sum d f x) v end_ok in_kept SOL ending_fits _ _ (counted_is ct d f x v) AB (known_is ct ctx d f x v FOK FCL FCS SOL FN CTX FIN) TI Nz R).
  - intros _. exact (known_is ct ctx d f x v FOK FCL FCS SOL FN CTX FIN).
Qed.

Theorem fused_sound : same_val (sum_values d (map (val_in v) (numbers_of x))) (val_in v (outcome (closing x))).
Proof.
  destruct (special_values m v d (numbers_of x)) as [SN [SI FI]].
  apply (finish ct c (closing x) (fused_sum d f x) v end_ok in_outcome SOL).
  - exact SN.
  - exact SI.
  - intros A B. destruct (FI A B) as [FIN EQ]. rewrite EQ. now apply finished_is.
Qed.

(** What is known of the cut points where the sum is a number. *)
Lemma usual_true : (v (nan (outcome (closing x))) =? 1) = false -> (v (inf (outcome (closing x))) =? 1) = false ->
  forallb T (usual c (closing x) (fused_sum d f x)) = true.
Proof.
  intros N I. destruct (inf_not_num ct c (closing x) (fused_sum d f x) v in_outcome SOL N I) as [A B].
  destruct (special_values m v d (numbers_of x)) as [_ [_ FI]]. destruct (FI A B) as [FIN _]. destruct (finished_is FIN) as [s [n [u [_ F]]]].
  exact (usual_is ct c (closing x) (fused_sum d f x) v s n u A B F).
Qed.
End Rounded.
